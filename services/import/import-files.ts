import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ReadRecords } from '../../domain/archive/items.ts'
import type { ArchivedFile, ArchivedAttachment } from '../../domain/archive/records.ts'
import { bytesWithin } from '../../domain/bytes-within.ts'
import { AppError, type ErrorCode } from '../../domain/errors.ts'
import type { AttachmentRecord } from '../../domain/records/attachment.ts'
import { writtenTypeOf } from '../attachments/content-type.ts'
import { refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import type { ProjectFiles } from '../knowledge/project-files.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import type { createStoreEntries } from '../knowledge/store-entries.ts'
import type { Uploads } from '../knowledge/uploads.ts'
import type { VectorStores } from '../knowledge/vector-stores.ts'
import { assistantStore } from '../stores/assistants.ts'
import { attachmentStore } from '../stores/attachments.ts'
import { fileStore, projectFileStore } from '../stores/files.ts'
import { threadStore } from '../stores/threads.ts'
import { vectorStoreStore } from '../stores/vector-stores.ts'
import { type Import, importedThread } from './import.ts'
import { recordOutcome } from './report.ts'

export interface ImportFilesDeps {
  collections: Pick<Collections, 'assistants' | 'files'>
  uploads: Pick<Uploads, 'admit' | 'receive'>
  projectFiles: Pick<ProjectFiles, 'keep'>
}

const refusalCodes: ErrorCode[] = ['bad_request', 'payload_too_large', 'not_found', 'forbidden', 'unavailable']

/**
 * Files of an archive. Each is an upload of its own to its assistant, with the quota and the ingestion of every upload.
 * The id of the ingestion tells whether the file was imported before.
 */
export function createFileImport(
  { collections, uploads, projectFiles }: ImportFilesDeps,
  { userId, idOf, report }: Import,
) {
  return async (file: ArchivedFile, content: AsyncIterable<Buffer>): Promise<void> => {
    try {
      report.count(await store(file, content), 'files')
    } catch (error) {
      if (!isRefusal(error)) throw error
      report.refuse('files', file.file_id, error)
    }
  }

  async function store(file: ArchivedFile, content: AsyncIterable<Buffer>) {
    const part = {
      name: file.name.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '') || 'file',
      contentType: file.content_type,
      content: Readable.from(content, { objectMode: false }),
    }
    if (file.project_id !== undefined) {
      const caller = { userId, projectId: idOf('project', file.project_id) }
      const { purpose = 'assistants', expires_at: end } = file
      const expiry = end === undefined ? {} : { expires_at: new Date(end) }
      return projectFiles.keep(caller, idOf('file', file.file_id), part, { purpose, ...expiry })
    }
    if (file.assistant_id === undefined)
      throw new AppError('bad_request', 'it names neither an assistant nor a project')
    const assistantId = idOf('assistant', file.assistant_id)
    const ingestionId = idOf('ingestion', file.file_id)
    const assistant = await assistantStore(collections).findOwned(userId, assistantId)
    if (assistant === null || assistant.deleting) throw new AppError('not_found', 'its assistant was not imported')
    if (await fileStore(collections).hasIngestion(assistantId, ingestionId)) return 'existing'
    await uploads.admit(assistant)
    await uploads.receive(assistant, only(part), ingestionId)
    return 'imported'
  }
}

async function* only<T>(value: T): AsyncGenerator<T> {
  yield value
}

/** Whether a rule of the service refused the file, such as a quota, or a server is away: not a fault of the archive. */
function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && refusalCodes.includes(error.code)
}

export interface ImportAttachmentsDeps {
  collections: Pick<Collections, 'threads' | 'attachments'>
  storageQuota: Pick<StorageQuota, 'requireRoomForParts'>
}

/** The images, sounds and files of imported messages. What bytes are is read from them, as it is when a message comes. */
export function createAttachmentImport(
  { collections, storageQuota }: ImportAttachmentsDeps,
  { userId, idOf, report }: Import,
) {
  const attachments = attachmentStore(collections)

  return (archived: ArchivedAttachment, content: AsyncIterable<Buffer>): Promise<void> =>
    recordOutcome(report, 'attachments', archived.attachment_id, async () => {
      const thread = await importedThread(collections, userId, idOf('thread', archived.thread_id ?? ''))
      const id = idOf('attachment', archived.attachment_id)
      if (await attachments.hasOwned(userId, id)) return 'existing'
      await storageQuota.requireRoomForParts(userId, [archived])
      const bytes = await bytesOf(content, archived.size)
      const record: AttachmentRecord = {
        _id: id,
        thread_id: thread._id,
        user_id: userId,
        name: archived.name,
        content_type: writtenTypeOf(bytes),
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        bytes,
        created_at: new Date(archived.created_at),
      }
      await attachments.add(record)
      // Stored first and checked afterwards: see services/parents.ts.
      if ((await threadStore(collections).findOwned(userId, thread._id)) !== null) return 'imported'
      await attachments.remove(thread._id, [id])
      throw refused('its thread was deleted')
    })
}

/** Holds no more than the size that the record says, which is bounded. */
async function bytesOf(content: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  const bytes = await bytesWithin(content, size)
  if (bytes?.length !== size) throw refused('its bytes are not as many as its record says')
  return bytes
}

export interface ImportVectorStoresDeps {
  collections: Pick<Collections, 'assistants' | 'files'>
  vectorStores: Pick<VectorStores, 'create'>
  entries: Pick<ReturnType<typeof createStoreEntries>, 'admit' | 'add'>
}

/** Vector stores of an archive, and their files, which are processed anew. */
export function createVectorStoreImport(
  { collections, vectorStores, entries }: ImportVectorStoresDeps,
  { userId, idOf, report }: Import,
) {
  const assistants = assistantStore(collections)

  return {
    vectorStore: (archived: ReadRecords['vector_stores']) =>
      recordOutcome(report, 'vector_stores', archived.vector_store_id, async () => {
        const id = idOf('assistant', archived.vector_store_id)
        if (await assistants.hasOwned(userId, id)) return 'existing'
        const caller = { userId, projectId: idOf('project', archived.project_id) }
        const { name, description, metadata, expires_after_days: days } = archived
        await vectorStores.create(caller, { name, description, metadata, expiresAfterDays: days }, id)
        await assistants.noteImported(userId, id, new Date(archived.created_at))
        return 'imported'
      }),

    entry: (archived: ReadRecords['vector_store_files']) =>
      recordOutcome(report, 'vector_store_files', `${archived.vector_store_id}/${archived.file_id}`, async () => {
        const storeId = idOf('assistant', archived.vector_store_id)
        const fileId = idOf('file', archived.file_id)
        const store = await vectorStoreStore(collections).findOfUser(userId, storeId)
        if (store === null) throw refused('its vector store was not imported')
        if ((await projectFileStore(collections).findEntry(storeId, fileId)) !== null) return 'existing'
        await entries.admit()
        const { attributes, chunking } = archived
        await entries.add(store, [{ fileId, attributes, chunking }])
        return 'imported'
      }),
  }
}
