import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { type FileDeletionInput, fileDeletionContract } from '../../domain/contracts/file-deletion.ts'
import { ingestionContract } from '../../domain/contracts/ingestion.ts'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import type { Page, PageRange } from '../page.ts'
import { type FileProgress, fileStore } from '../stores/files.ts'
import { receiptStore } from '../stores/receipts.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { openReceipt } from './delete-file.ts'
import { ingestionOf } from './ingestion-of.ts'

/** The progress of an ingestion, for a progress bar. */
export interface IngestionView {
  ingestion_id: string
  status: 'processing' | 'done'
  /** From 0 to 1. Decreases only if the vector store lost vectors. */
  progress: number
  /** A page of its files, in the order of the upload. */
  page: Page<FileRecord>
}

interface FilesDeps {
  collections: Pick<KnowledgeCollections, 'files'> & Pick<Collections, 'receipts'>
  blobs: Pick<BlobStore, 'read'>
  workflows: Pick<WorkflowClient, 'start' | 'result'>
  /** How long a request waits for the end of a deletion. */
  deletionWaitMs: number
}

const pollMs = 250
/** How many files of an upload are shown by default. */
export const firstFiles: PageRange = { limit: 1000, offset: 0 }

export function createFiles({ collections, blobs, workflows, deletionWaitMs }: FilesDeps) {
  const store = fileStore(collections)

  async function view(assistantId: string, ingestionId: string, range: PageRange = firstFiles): Promise<IngestionView> {
    if (!(await store.hasIngestion(assistantId, ingestionId)))
      throw new AppError('not_found', 'There is no such ingestion.')
    const page = await store.listOfIngestion(ingestionId, range)
    const isWhole = range.offset === 0 && !page.hasMore
    const { done, progress } = await summed(isWhole ? page.entries : store.openProgress(assistantId, ingestionId))
    return { ingestion_id: ingestionId, status: done ? 'done' : 'processing', progress, page }
  }

  return {
    /** Oldest first. */
    list: store.listOwned,

    /** The bytes of a file as it was uploaded. Throws `not_found`. */
    async content(assistantId: string, fileId: string): Promise<{ file: FileRecord; bytes: Readable }> {
      const file = await store.findOwned(assistantId, fileId)
      if (file === null) throw new AppError('not_found', 'There is no such file.')
      return { file, bytes: blobs.read(file.blob_id) }
    },

    /** A page of the files of an upload, in its order. */
    ofIngestion: store.listOfIngestion,

    /** Throws `not_found` for an ingestion of another assistant. */
    view,

    /** Resolves when every file of the ingestion is ready or failed, or `signal` aborts. */
    async wait(ingestionId: string, signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const end = await workflows.result(ingestionContract, { ingestionId }, { waitMs: 60_000, signal })
        if (end.status === 'failed') throw end.cause
        if (end.status !== 'running') return
      }
    },

    /** The view after each change, until the ingestion has ended. */
    async *watch(assistantId: string, ingestionId: string, signal: AbortSignal): AsyncGenerator<IngestionView> {
      let last = ''
      while (!signal.aborted) {
        const started = Date.now()
        const current = await view(assistantId, ingestionId)
        const text = JSON.stringify(current)
        if (text !== last) yield current
        last = text
        if (current.status === 'done') return
        // An upload of very many files is read less often.
        await sleep(Math.max(pollMs, 5 * (Date.now() - started)), undefined, { signal }).catch(() => undefined)
      }
    },

    /**
     * Removes a file with all its chunks. A repeated request joins the deletion that is under way. Throws
     * `not_found`.
     */
    async remove(
      assistant: Pick<AssistantRecord, '_id' | 'user_id' | 'project_id'>,
      fileId: string,
    ): Promise<DeletionResult> {
      const { _id: assistantId, user_id: userId } = assistant
      const record = await store.findOwned(assistantId, fileId)
      if (record) {
        await workflows.start(fileDeletionContract, { ...deletionOf(record), userId, projectId: assistant.project_id })
      } else {
        const receipt = { _id: fileId, kind: 'file' } as const
        if (!(await receiptStore(collections).isRunning(userId, receipt)))
          throw new AppError('not_found', 'There is no such file.')
      }
      const end = await workflows.result(fileDeletionContract, { fileId }, { waitMs: deletionWaitMs })
      if (end.status === 'failed')
        throw new AppError('internal', 'The deletion of the file was interrupted.', { cause: end.cause })
      if (end.status !== 'running') return { status: 'complete', receiptId: fileId }
      // The worker may not have begun.
      if (record) await openReceipt(collections, [record], userId)
      return { status: 'pending', receiptId: fileId }
    },
  }
}

/** What the deletion of a file has to be told. */
export function deletionOf(record: FileRecord): Omit<FileDeletionInput, 'userId'> {
  const { _id, assistant_id: assistantId, blob_id: blobId, source_id: source, content_id: contentId } = record
  return {
    fileId: _id,
    assistantId,
    ingestionId: ingestionOf(record),
    ...(source === undefined ? { blobId } : {}),
    ...(contentId === undefined ? {} : { contentId }),
  }
}

async function summed(records: Iterable<FileProgress> | AsyncIterable<FileProgress>) {
  let count = 0
  let open = 0
  let sum = 0
  for await (const record of records) {
    count += 1
    if (record.status !== 'ready' && record.status !== 'failed') open += 1
    sum += progressOf(record)
  }
  return { done: open === 0, progress: count === 0 ? 0 : Math.round((sum / count) * 1000) / 1000 }
}

function progressOf(record: FileProgress): number {
  if (record.status === 'ready' || record.status === 'failed') return 1
  if (record.chunks === 0) return 0
  // The length is unknown while the file is being read: the bar stands still rather than going back.
  return record.extracted ? 0.1 + (0.9 * record.embedded) / record.chunks : 0.05
}
