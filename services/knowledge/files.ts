import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { IngestionWorkflows } from './ingestion-workflows.ts'

/** How far an ingestion is, for a progress bar. */
export interface IngestionView {
  ingestion_id: string
  status: 'processing' | 'done'
  /** 0 to 1. Steps back only when the vector store lost what it had stored. */
  progress: number
  files: FileRecord[]
}

interface FilesDeps {
  collections: Pick<KnowledgeCollections, 'files'>
  workflows: Pick<IngestionWorkflows, 'deleteFile' | 'finished'>
}

const visible = { status: { $ne: 'uploading' } } as const
const pollMs = 250

export function createFiles({ collections: { files }, workflows }: FilesDeps) {
  const ofIngestion = (ingestionId: string) =>
    files
      .find({ ingestion_id: ingestionId, ...visible })
      .sort({ order: 1 })
      .lean<FileRecord[]>()

  async function view(assistantId: string, ingestionId: string): Promise<IngestionView> {
    const records = (await ofIngestion(ingestionId)).filter((record) => record.assistant_id === assistantId)
    if (records.length === 0) throw new AppError('not_found', 'There is no such ingestion.')
    const done = records.every((record) => record.status === 'ready' || record.status === 'failed')
    const progress = records.reduce((sum, record) => sum + progressOf(record), 0) / records.length
    return {
      ingestion_id: ingestionId,
      status: done ? 'done' : 'processing',
      progress: Math.round(progress * 1000) / 1000,
      files: records,
    }
  }

  return {
    list: (assistantId: string): Promise<FileRecord[]> =>
      files
        .find({ assistant_id: assistantId, ...visible })
        .sort({ created_at: 1, order: 1, _id: 1 })
        .lean<FileRecord[]>(),

    /** Whether the assistant has something to search. */
    hasReady: async (assistantId: string): Promise<boolean> =>
      (await files.exists({ assistant_id: assistantId, status: 'ready', chunks: { $gt: 0 } })) !== null,

    ofIngestion,
    view,

    /** Resolves when every file of the ingestion is ready or failed. */
    async wait(ingestionId: string, signal: AbortSignal): Promise<void> {
      await workflows.finished(ingestionId, signal)
    },

    /** The view each time that it changes, until the ingestion is over. */
    async *watch(assistantId: string, ingestionId: string, signal: AbortSignal): AsyncGenerator<IngestionView> {
      let last = ''
      while (!signal.aborted) {
        const current = await view(assistantId, ingestionId)
        const text = JSON.stringify(current)
        if (text !== last) yield current
        last = text
        if (current.status === 'done') return
        await sleep(pollMs, undefined, { signal }).catch(() => undefined)
      }
    },

    /** Removes a file with all its chunks. Throws `not_found`, and `internal` when it could not be finished in time. */
    async remove(assistant: AssistantRecord, fileId: string): Promise<void> {
      const record = await files.findOne({ _id: fileId, assistant_id: assistant._id, ...visible }).lean<FileRecord>()
      if (!record) throw new AppError('not_found', 'There is no such file.')
      const isGone = await workflows.deleteFile({ assistantId: assistant._id, fileId, blobId: record.blob_id })
      if (!isGone) throw new AppError('internal', 'The file is still being removed.')
    },
  }
}

export type Files = ReturnType<typeof createFiles>

function progressOf(record: FileRecord): number {
  if (record.status === 'ready' || record.status === 'failed') return 1
  if (record.chunks === 0) return 0
  // While it is being read, nobody knows its length: a bar that goes back would say less than one that stands.
  return record.extracted ? 0.1 + (0.9 * record.embedded) / record.chunks : 0.05
}
