import type { Readable } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import { holderOf } from '../owner.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery, storedPage } from '../cursor-page.ts'
import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import type { Page } from '../page.ts'
import type { BlobStore } from './blob-store.ts'
import type { createFiles } from './files.ts'
import type { ProjectFileRecords } from './project-file-records.ts'
import type { ReceiveProjectFile } from './receive-project-file.ts'
import type { UploadPart } from './upload.ts'

interface ProjectFilesDeps {
  collections: Pick<Collections, 'files'>
  blobs: Pick<BlobStore, 'read'>
  receive: ReceiveProjectFile
  records: ProjectFileRecords
  files: Pick<ReturnType<typeof createFiles>, 'remove'>
}

export type ProjectFiles = ReturnType<typeof createProjectFiles>

const recordBytes = 3000

/** Files of a project that belong to no assistant: their bytes are stored as they are, and vector stores read them. */
export function createProjectFiles({ collections, blobs, receive, records, files: { remove } }: ProjectFilesDeps) {
  const { files } = collections
  const ofProject = ({ projectId }: Caller) => ({
    assistant_id: projectOwner(projectId),
    status: { $ne: 'uploading' as const },
    $or: [{ expires_at: { $exists: false } }, { expires_at: { $gt: new Date() } }],
  })

  async function find(caller: Caller, fileId: string): Promise<FileRecord> {
    const file = await files.findOne({ _id: fileId, ...ofProject(caller) }).lean<FileRecord>()
    if (file === null) throw new AppError('not_found', `There is no file ${fileId}.`)
    return file
  }

  return {
    /** Stores the file of a form. */
    receive,

    find,

    /**
     * Keeps a file of an archive under the given id. `existing` if it is there. Throws `forbidden` without the project,
     * and what a user's quota refuses.
     */
    async keep(
      caller: Caller,
      id: string,
      { name, contentType, content }: UploadPart,
      members: Pick<FileRecord, 'purpose' | 'expires_at'>,
    ): Promise<'imported' | 'existing'> {
      await records.requireProject(caller)
      const known = await files.findById(id).lean<FileRecord>()
      if (known !== null && known.status !== 'uploading') return 'existing'
      // Of an import that was cut off.
      if (known !== null) await records.discard(known)
      const record = await records.open(caller, { name, contentType, _id: id })
      try {
        const refusal = await records.store(record, content)
        if (refusal !== undefined) throw refusal
        await records.show(caller, record, members)
        return 'imported'
      } catch (error) {
        await records.discard(record)
        throw error
      }
    },

    page: (caller: Caller, query: PageQuery & { purpose?: string | undefined }): Promise<Page<FileRecord>> => {
      const own = { ...ofProject(caller), ...(query.purpose === undefined ? {} : { purpose: query.purpose }) }
      return storedPage(query, {
        find: (id) =>
          files
            .findOne({ _id: id, ...own }, { created_at: 1 })
            .lean<FileRecord>()
            .exec(),
        read: (range, sort) =>
          files
            .find({ ...own, ...range })
            .sort(sort)
            .lean<FileRecord>(),
        bytesOf: () => recordBytes,
      })
    },

    async content(caller: Caller, fileId: string): Promise<{ file: FileRecord; bytes: Readable }> {
      const file = await find(caller, fileId)
      return { file, bytes: blobs.read(file.blob_id) }
    },

    /** Removes the file, and its entries in all vector stores. */
    remove(caller: Caller, fileId: string): Promise<DeletionResult> {
      const { userId, projectId } = holderOf(caller)
      return remove({ _id: projectOwner(projectId), user_id: userId, project_id: projectId }, fileId)
    },
  }
}
