import {
  ActivityFailure,
  CancellationScope,
  TimeoutFailure,
  defineQuery,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow'
import type { createDocumentActivities } from '../activities/documents/index.ts'
import {
  type FileDeletionInput,
  type FileOutcome,
  type FileStepInput,
  type IngestionInput,
  type IngestionProgress,
  type IngestionResult,
  ingestionProgressQueryName,
} from '../domain/contracts/ingestion.ts'
import { embedPolicy, extractPolicy, storePolicy } from './document-policies.ts'

export const ingestionProgress = defineQuery<IngestionProgress>(ingestionProgressQueryName)

type Activities = ReturnType<typeof createDocumentActivities>
const { extractFile } = proxyActivities<Pick<Activities, 'extractFile'>>(extractPolicy)
const { embedFile } = proxyActivities<Pick<Activities, 'embedFile'>>(embedPolicy)
const { failFile, deleteFile } = proxyActivities<Pick<Activities, 'failFile' | 'deleteFile'>>(storePolicy)

/** How many files of one upload are read at the same time; the first of them is being embedded. */
const extractionsAtOnce = 2

/**
 * The files of one upload, in order; while one is embedded, the next are already being extracted. A
 * file that cannot be processed fails alone.
 */
export async function ingestionWorkflow({ assistantId, fileIds }: IngestionInput): Promise<IngestionResult> {
  const progress: IngestionProgress = { total: fileIds.length, current: null, outcomes: {} }
  const result: IngestionResult = { ready: 0, failed: 0, gone: 0 }
  setHandler(ingestionProgress, () => progress)
  const files = fileIds.map((fileId): FileStepInput => ({ fileId, assistantId }))
  const extractions: Extraction[] = []
  const beginUpTo = (count: number) => {
    for (let next = extractions.length; next < Math.min(count, files.length); next++) {
      const file = files[next]
      if (file) extractions.push(beginExtraction(file, extractions[next - extractionsAtOnce]))
    }
  }
  for (const [index, file] of files.entries()) {
    progress.current = file.fileId
    setCurrentDetails(`File ${index + 1} of ${files.length}`)
    beginUpTo(index + 1 + extractionsAtOnce)
    const outcome = await ingestFile(file, extractions[index] ?? Promise.resolve({}))
    progress.outcomes[file.fileId] = outcome
    result[outcome]++
  }
  progress.current = null
  setCurrentDetails(`${result.ready} ready, ${result.failed} failed, ${result.gone} deleted meanwhile`)
  return result
}

type Extraction = Promise<{ failure?: Error }>

/** Never rejects: a failure waits until its file has its turn. */
async function beginExtraction(file: FileStepInput, after?: Extraction): Extraction {
  await after
  try {
    await extractFile(file)
    return {}
  } catch (error) {
    return { failure: error instanceof Error ? error : new Error('not an error') }
  }
}

/** Embedding begins with the first chunks, while the rest is still being extracted. */
async function ingestFile(file: FileStepInput, extraction: Extraction): Promise<FileOutcome> {
  const scope = new CancellationScope()
  try {
    return await scope.run(async () => {
      const extracted = extraction.then(({ failure }) => {
        if (failure) throw failure
      })
      const [, outcome] = await Promise.all([extracted, embedAll(file)])
      return outcome
    })
  } catch (error) {
    if (isCancellation(error) && !(error instanceof ActivityFailure)) throw error
    return CancellationScope.nonCancellable(async () => {
      scope.cancel()
      await failFile({ ...file, reason: reasonOf(error) })
      // Sees the failure and removes what there is of the file.
      return embedAll(file)
    })
  }
}

async function embedAll(file: FileStepInput): Promise<FileOutcome> {
  for (;;) {
    const result = await embedFile(file)
    if (result !== 'waiting') return result
  }
}

/** Words for the file's owner: failures carry only words that may be shown. */
function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof TimeoutFailure) return 'Processing this file took too long.'
  if (cause instanceof Error && !cause.message.startsWith('unexpected failure')) return cause.message
  return 'Processing this file failed.'
}

/** Removes a file for good: repeated until every store says that nothing is left. */
export async function fileDeletionWorkflow(input: FileDeletionInput): Promise<void> {
  await deleteFile(input)
}
