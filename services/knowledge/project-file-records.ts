import type { Readable } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import { type FileRecord, arrivingFile } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { type Caller, holderOf } from '../owner.ts'
import { fileStore } from '../stores/files.ts'
import { projectStore } from '../stores/projects.ts'
import type { BlobStore } from './blob-store.ts'
import type { StorageQuota } from './storage-quota.ts'
import { brokenOff } from './upload.ts'

interface ProjectFileRecordsDeps {
  collections: Pick<Collections, 'files' | 'projects'>
  blobs: Pick<BlobStore, 'newBlobId' | 'write' | 'delete'>
  storageQuota: StorageQuota
}

export type ProjectFileRecords = ReturnType<typeof createProjectFileRecords>

/** Records of files that belong to a project, with their bytes; hidden until they are shown. */
export function createProjectFileRecords({ collections, blobs, storageQuota }: ProjectFileRecordsDeps) {
  const files = fileStore(collections)

  /** Call once a record is complete. A deletion of the project that began before does not find it, a later one does. */
  async function requireProject(caller: Caller): Promise<void> {
    const { projectId, userId } = holderOf(caller)
    if (await projectStore(collections).isPresent(userId, projectId)) return
    throw new AppError('forbidden', 'The project is not available.')
  }

  return {
    /** The record is stored before the bytes, so that stored bytes always have a record. */
    async open(
      caller: Caller,
      { name, contentType, ...more }: { name: string; contentType: string } & Partial<FileRecord>,
    ): Promise<FileRecord> {
      const { userId, makerId } = holderOf(caller)
      const record: FileRecord = {
        _id: newId(),
        assistant_id: projectOwner(caller.projectId),
        user_id: userId,
        ...(makerId === undefined ? {} : { created_by: makerId }),
        ingestion_id: '-',
        order: 0,
        name,
        content_type: contentType,
        ...arrivingFile(blobs.newBlobId(), new Date()),
        ...more,
      }
      await files.add(record)
      return record
    },

    /** Stores the bytes; answers why they cannot stay, if they cannot. `uploadId`: they are a part of that upload. */
    async store(record: FileRecord, content: Readable, uploadId?: string): Promise<AppError | undefined> {
      const limited = await storageQuota.limit(record.user_id, content, uploadId)
      const { size, sha256 } = await blobs
        .write(record.blob_id, record.assistant_id, limited.content)
        .catch((error: unknown) => {
          throw content.errored ? brokenOff(error) : error
        })
      Object.assign(record, { size, sha256 })
      if (!(await files.noteContent(record, { size, sha256 })))
        throw new AppError('not_found', 'The project was deleted during the upload.')
      return limited.refusal()
    },

    async show(caller: Caller, record: FileRecord, members: Partial<FileRecord>): Promise<FileRecord> {
      const shown: FileRecord = { ...record, ...members, status: 'ready', extracted: true }
      await files.show(record, members)
      await requireProject(caller)
      return shown
    },

    requireProject,

    /** Removes a record that is not shown, and its bytes; nothing if it is shown meanwhile. */
    async discard(record: Pick<FileRecord, '_id' | 'blob_id'>): Promise<void> {
      if (await files.removeUnseen(record)) await blobs.delete([record.blob_id])
    },
  }
}

const touchEveryMs = 60_000

/** While `work` lasts, says once a minute that the record is not abandoned. */
export async function touching<T>(touch: () => PromiseLike<unknown>, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    void Promise.resolve(touch()).catch(() => undefined)
  }, touchEveryMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
