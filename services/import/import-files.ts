import { Readable } from 'node:stream'
import type { ArchivedFile } from '../../domain/archive/records.ts'
import { AppError, type ErrorCode } from '../../domain/errors.ts'
import type { Collections } from '../collections.ts'
import type { ProjectFiles } from '../knowledge/project-files.ts'
import type { Uploads } from '../knowledge/uploads.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import type { Import } from './import.ts'

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
