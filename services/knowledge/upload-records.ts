import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type FileRecord, unprocessed } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { parentsRemain } from '../parents.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { UploadPart } from './upload.ts'

interface UploadRecordsDeps {
  collections: Pick<KnowledgeCollections, 'files'> & Pick<Collections, 'users' | 'assistants' | 'projects'>
  blobs: Pick<BlobStore, 'newBlobId'>
}

export type UploadRecords = ReturnType<typeof createUploadRecords>

/** The records of files while their bytes arrive. */
export function createUploadRecords({ collections, blobs }: UploadRecordsDeps) {
  const files = fileStore(collections)

  /** The record is stored before the bytes, so that stored bytes always have a record. */
  async function open(
    assistant: AssistantRecord,
    ingestionId: string,
    order: number,
    part: UploadPart,
    makerId?: string,
  ): Promise<FileRecord> {
    const now = new Date()
    const record: FileRecord = {
      _id: newId(),
      assistant_id: assistant._id,
      user_id: assistant.user_id,
      ...(makerId === undefined ? {} : { created_by: makerId }),
      ingestion_id: ingestionId,
      order,
      name: part.name,
      content_type: part.contentType,
      size: 0,
      sha256: '',
      blob_id: blobs.newBlobId(),
      status: 'uploading',
      ...unprocessed,
      created_at: now,
      updated_at: now,
    }
    // Set before the first file is stored: runs search for files only in assistants with this flag.
    if (order === 0 && assistant.has_files !== true) await assistantStore(collections).noteHasFiles(assistant._id)
    // Stored first and checked afterwards: many simultaneous uploads would compete for a write to their assistant's
    // record.
    await files.add(record)
    if (await parentsRemain(collections, { ...assistant, assistant_id: assistant._id })) return record
    await files.remove(record)
    throw new AppError('not_found', 'There is no such assistant.')
  }

  /** Throws `not_found` if a deletion has taken the record in the meantime. */
  async function noteContent(record: FileRecord, content: { size: number; sha256: string }): Promise<void> {
    Object.assign(record, content)
    if (!(await files.noteContent(record, content)))
      throw new AppError('not_found', 'The assistant was deleted during the upload.')
  }

  /** Shows the files as waiting for their ingestion. */
  async function queue(records: FileRecord[]): Promise<void> {
    await files.queueAll(idsOf(records))
  }

  /** Tells the sweep of abandoned uploads that this one is slow, not dead. */
  async function keepAlive(records: FileRecord[]): Promise<void> {
    try {
      await files.keepAlive(idsOf(records))
    } catch {
      // The next renewal is soon enough.
    }
  }

  /** Removes those that no ingestion has begun, and returns where their bytes are. The others are files by now. */
  async function removeUnseen(records: FileRecord[]): Promise<string[]> {
    const removed: string[] = []
    for (const record of records) if (await files.removeUnseen(record)) removed.push(record.blob_id)
    return removed
  }

  return { open, noteContent, queue, keepAlive, removeUnseen }
}

const idsOf = (records: FileRecord[]) => records.map((record) => record._id)
