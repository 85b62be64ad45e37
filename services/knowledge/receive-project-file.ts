import type { Readable } from 'node:stream'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import type { BlobStore } from './blob-store.ts'
import type { StorageQuota } from './storage-quota.ts'
import { type UploadPart, brokenOff } from './upload.ts'

interface ReceiveDeps {
  collections: Pick<Collections, 'files' | 'projects'>
  blobs: Pick<BlobStore, 'newBlobId' | 'write' | 'delete'>
  storageQuota: StorageQuota
}

/** A part of an upload: a file, or a field of the form. */
export type FormPart = { file: UploadPart } | { field: string; value: string }

export type ReceiveProjectFile = ReturnType<typeof createReceiveProjectFile>

const touchEveryMs = 60_000

/** Stores an uploaded file of a project. */
export function createReceiveProjectFile({ collections, blobs, storageQuota }: ReceiveDeps) {
  const { files, projects } = collections

  return receive

  /**
   * Stores the file of a form; `membersOf` reads its fields, which may come after the file, and throws for wrong ones.
   * All or nothing.
   */
  async function receive(
    caller: Caller,
    parts: AsyncIterable<FormPart>,
    membersOf: (fields: Map<string, string>) => Pick<FileRecord, 'purpose' | 'expires_at'>,
  ): Promise<FileRecord> {
    const fields = new Map<string, string>()
    let record: FileRecord | undefined
    let refusal: AppError | undefined
    const touch = setInterval(() => {
      const $set = { updated_at: new Date() }
      if (record) void files.updateOne({ _id: record._id, status: 'uploading' }, { $set }).catch(() => undefined)
    }, touchEveryMs)
    try {
      for await (const part of parts) {
        if ('field' in part) fields.set(part.field, part.value)
        else if (record !== undefined) throw invalidInput(['body', 'file'], 'an upload has one file')
        else {
          record = await open(caller, part.file)
          refusal = await store(record, part.file.content)
        }
      }
      const members = membersOf(fields)
      if (record === undefined) throw invalidInput(['body', 'file'], 'is required', 'missing')
      if (refusal !== undefined) throw refusal
      return await show(caller, record, members)
    } catch (error) {
      if (record) await discard(record)
      throw error
    } finally {
      clearInterval(touch)
    }
  }

  /** The record is stored before the bytes, so that stored bytes always have a record. */
  async function open(caller: Caller, part: UploadPart): Promise<FileRecord> {
    const now = new Date()
    const record: FileRecord = {
      _id: newId(),
      assistant_id: projectOwner(caller.projectId),
      user_id: caller.userId,
      ingestion_id: '-',
      order: 0,
      name: part.name,
      content_type: part.contentType,
      size: 0,
      sha256: '',
      blob_id: blobs.newBlobId(),
      status: 'uploading',
      chunks: 0,
      characters: 0,
      extracted: false,
      embedded: 0,
      created_at: now,
      updated_at: now,
    }
    await files.create([record])
    return record
  }

  async function discard({ _id, blob_id: blobId }: FileRecord): Promise<void> {
    await blobs.delete([blobId])
    await files.deleteOne({ _id })
  }

  async function store(record: FileRecord, content: Readable): Promise<AppError | undefined> {
    const limited = await storageQuota.limit(record.user_id, content)
    const { size, sha256 } = await blobs
      .write(record.blob_id, record.assistant_id, limited.content)
      .catch((error: unknown) => {
        throw content.errored ? brokenOff(error) : error
      })
    Object.assign(record, { size, sha256 })
    const { matchedCount } = await files.updateOne({ _id: record._id }, { $set: { size, sha256 } })
    if (matchedCount === 0) throw new AppError('not_found', 'The project was deleted during the upload.')
    return limited.refusal()
  }

  /** A deletion of the project that began before this does not find the file; one that begins later does. */
  async function show(caller: Caller, record: FileRecord, members: Partial<FileRecord>): Promise<FileRecord> {
    const shown: FileRecord = { ...record, ...members, status: 'ready', extracted: true }
    await files.updateOne(
      { _id: record._id },
      { $set: { ...members, status: 'ready', extracted: true, updated_at: new Date() } },
    )
    if ((await projects.exists({ _id: caller.projectId, deleting: { $ne: true } })) !== null) return shown
    throw new AppError('forbidden', 'The project is not available.')
  }
}
