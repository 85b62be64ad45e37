import type { Readable } from 'node:stream'
import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { AppError } from '../../domain/errors.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery } from '../cursor-page.ts'
import { type Caller, holderOf } from '../owner.ts'
import type { Page } from '../page.ts'
import { projectFileStore, fileStore } from '../stores/files.ts'
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

/** Files of a project that belong to no assistant: their bytes are stored as they are, and vector stores read them. */
export function createProjectFiles({ collections, blobs, receive, records, files: { remove } }: ProjectFilesDeps) {
  const store = projectFileStore(collections)

  async function find({ projectId }: Caller, fileId: string): Promise<FileRecord> {
    const file = await store.find(projectOwner(projectId), fileId)
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
      const known = await fileStore(collections).findOfAny(id)
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

    page: ({ projectId }: Caller, query: PageQuery & { purpose?: string | undefined }): Promise<Page<FileRecord>> =>
      store.page(projectOwner(projectId), query),

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
