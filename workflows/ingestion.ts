import {
  ActivityFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'
import type { createDocumentActivities } from '../activities/documents/index.ts'
import { backOffMs } from '../domain/back-off.ts'
import {
  type FileOutcome,
  type FileStepInput,
  type IngestionProgress,
  type IngestionResult,
  ingestionContract,
} from '../domain/contracts/ingestion.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'
import { stepPolicy, storePolicy } from './ingestion-policies.ts'
import { type KeepTryingOptions, keepTrying, reasonForOwner } from './keep-trying.ts'

const { signals, queries } = ingestionContract

type Activities = ReturnType<typeof createDocumentActivities>
const { extractFile, embedFile } = proxyActivities<Pick<Activities, 'extractFile' | 'embedFile'>>(stepPolicy)
const { failFile, reopenFile } = proxyActivities<Pick<Activities, 'failFile' | 'reopenFile'>>(storePolicy)

/** How often a step that fails for an unknown reason is started in total. */
const surprises = 3
/** How many files of one upload are read at the same time; the first of them is being embedded. */
const extractionsAtOnce = 2

/**
 * Processes the files of an upload in order; while one is embedded, the next are already being extracted. A file
 * that cannot be processed fails alone; for a file that waits for a server, the workflow's details say so.
 */
export const ingestionWorkflow: WorkflowOf<typeof ingestionContract> = async (input) => {
  const before = Object.values(input.outcomes ?? {})
  const total = before.length + input.fileIds.length
  const progress: IngestionProgress = { total, current: null, outcomes: { ...input.outcomes } }
  const result: IngestionResult = { ready: 0, failed: 0, gone: 0 }
  for (const outcome of before) result[outcome]++
  setHandler(queries.progress, () => progress)
  const patienceMs = input.patienceHours * 3_600_000
  const waits = new Map<string, string>()
  let headline = ''
  const show = () => setCurrentDetails([headline, ...waits.values()].join('\n\n'))
  const files = input.fileIds.map((fileId): IngestedFile => {
    const onWait = (reason: string | undefined) => {
      if (reason === undefined) waits.delete(fileId)
      else waits.set(fileId, `File ${fileId} waits: ${reason}`)
      show()
    }
    return {
      step: { fileId, assistantId: input.assistantId },
      trying: { patienceMs, surprises, onWait },
      isExtracted: false,
      isQueued: false,
      isDeleted: false,
      work: new CancellationScope(),
    }
  })
  setHandler(signals.fileDeleted, ({ fileId }) => {
    const file = files.find(({ step }) => step.fileId === fileId)
    if (!file) return
    file.isDeleted = true
    file.work.cancel()
  })
  if (input.retry !== undefined) {
    for (const { step } of files) await reopenFile({ ...step, retry: input.retry })
  }
  const extractions: Extraction[] = []
  const beginUpTo = (count: number) => {
    for (let next = extractions.length; next < Math.min(count, files.length); next++) {
      const file = files[next]
      if (file) extractions.push(beginExtraction(file, extractions[next - extractionsAtOnce]))
    }
  }
  let isEnding = false
  for (const [index, file] of files.entries()) {
    const { fileId } = file.step
    // Files that are being extracted are finished here; the others go to the next execution.
    isEnding ||= workflowInfo().continueAsNewSuggested
    if (isEnding && index === extractions.length) {
      const { retry: _, ...rest } = input
      const fileIds = input.fileIds.slice(index)
      return continueAsNew<typeof ingestionWorkflow>({ ...rest, fileIds, outcomes: progress.outcomes })
    }
    progress.current = fileId
    headline = `File ${before.length + index + 1} of ${total}`
    show()
    if (!isEnding) beginUpTo(index + 1 + extractionsAtOnce)
    const outcome = await ingestFile(file, extractions[index] ?? Promise.resolve({}))
    progress.outcomes[fileId] = outcome
    result[outcome]++
    waits.delete(fileId)
  }
  progress.current = null
  headline = `${result.ready} ready, ${result.failed} failed, ${result.gone} deleted meanwhile`
  show()
  return result
}

interface IngestedFile {
  step: FileStepInput
  trying: KeepTryingOptions
  /** Whether extraction has ended. */
  isExtracted: boolean
  /** Whether extraction waits for its turn: until then there is nothing to embed. */
  isQueued: boolean
  isDeleted: boolean
  /** All steps of the file. Cancelled when the file is deleted: no step and no pause delays the next file. */
  work: CancellationScope
}

type Extraction = Promise<{ failure?: Error }>

/** Never rejects: a failure is kept until it is the file's turn. */
async function beginExtraction(file: IngestedFile, after?: Extraction): Extraction {
  await after
  try {
    await file.work.run(() => extract(file))
    return {}
  } catch (error) {
    return { failure: error instanceof Error ? error : new Error('not an error') }
  } finally {
    file.isExtracted = true
  }
}

async function extract(file: IngestedFile): Promise<void> {
  for (let pauses = 1; ; pauses++) {
    file.isQueued = false
    const result = await keepTrying(() => extractFile(file.step), file.trying)
    if (result !== 'busy') return
    file.isQueued = true
    await sleep(backOffMs(pauses, { firstMs: 1000, longestMs: longestTurnPauseMs }))
  }
}

/** Pause between two attempts to get a slot. */
const longestTurnPauseMs = 60_000

/** Embedding begins with the first chunks, while the rest is still being extracted. */
async function ingestFile(file: IngestedFile, extraction: Extraction): Promise<FileOutcome> {
  const scope = new CancellationScope({ cancellable: true, parent: file.work })
  let embedding: Promise<unknown> | undefined
  try {
    return await scope.run(async () => {
      const extracted = extraction.then(({ failure }) => {
        if (failure) throw failure
      })
      const embedded = embedAll(file)
      embedding = embedded
      const [, outcome] = await Promise.all([extracted, embedded])
      return outcome
    })
  } catch (error) {
    if (file.isDeleted) {
      return CancellationScope.nonCancellable(async () => {
        await Promise.allSettled([extraction, embedding])
        return embedLast(file)
      })
    }
    if (isCancellation(error) && !(error instanceof ActivityFailure)) throw error
    return CancellationScope.nonCancellable(async () => {
      scope.cancel()
      await failFile({ ...file.step, reason: reasonForOwner(error) })
      return embedLast(file)
    })
  }
}

/** Checks whether the file has failed or is gone, and removes what earlier steps left of it. */
function embedLast(file: IngestedFile): Promise<FileOutcome> {
  return embedAll({ ...file, trying: { ...file.trying, patienceMs: Infinity, surprises: Infinity } })
}

async function embedAll(file: IngestedFile): Promise<FileOutcome> {
  for (let pauses = 1; ; pauses++) {
    const result = await keepTrying(() => embedFile(file.step), file.trying)
    if (result !== 'waiting') return result
    const pauseMs = backOffMs(pauses, { firstMs: 1000, longestMs: longestPauseMs })
    await (file.isExtracted ? sleep(pauseMs) : condition(() => file.isExtracted, pauseMs))
    if (file.isQueued) await untilBeingRead(file)
  }
}

/** Each time when extraction is tried again, it is known a moment later whether its turn has come. */
async function untilBeingRead(file: IngestedFile): Promise<void> {
  while (file.isQueued && !file.isExtracted) {
    await condition(() => !file.isQueued || file.isExtracted)
    await condition(() => file.isQueued || file.isExtracted, turnKnownAfterMs)
  }
}

const turnKnownAfterMs = 2000

/** Pause between two checks of a file without newly extracted chunks. */
const longestPauseMs = 30_000
