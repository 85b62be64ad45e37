import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type FileRecord } from '../../domain/records/file.ts'
import { fileStore } from '../stores/files.ts'
import type { KnowledgeCollections } from './collections.ts'
import { retryId } from './ingestion-of.ts'
import type { StartIngestion } from './start-ingestion.ts'
import type { Uploads } from './uploads.ts'

interface RetriesDeps {
  collections: Pick<KnowledgeCollections, 'files'>
  startIngestion: StartIngestion
  admit: Uploads['admit']
}

/** Processes files again whose failure was caused by the service. */
export function createRetries({ collections, startIngestion, admit }: RetriesDeps) {
  /**
   * Returns the file as it is now; a file that has not failed is not changed, so that a repeated request has no
   * effect. Throws `not_found`, `conflict` for a file that cannot be read, and the errors of `admit`.
   */
  async function retry(assistant: AssistantRecord, fileId: string): Promise<FileRecord> {
    await admit(assistant)
    const find = () => fileStore(collections).findOwned(assistant._id, fileId)
    const file = await find()
    if (!file) throw new AppError('not_found', 'There is no such file.')
    if (file.status !== 'failed') return file
    if (file.retryable === false) {
      throw new AppError('conflict', `This file cannot be read, and a retry would not change that: ${file.error}`)
    }
    const number = (file.retries ?? 0) + 1
    await startIngestion(assistant, {
      // The number makes simultaneous requests start only one ingestion.
      ingestionId: retryId(fileId, number),
      fileIds: [fileId],
      retry: number,
    })
    // The workflow does the same; it is done here too, so that the file is shown as queued at once.
    await fileStore(collections).reopenOfAny(fileId, number)
    return (await find()) ?? { ...file, status: 'queued' }
  }

  return { retry }
}
