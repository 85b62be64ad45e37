import { Readable } from 'node:stream'
import type { Static } from 'typebox'
import { AppError, type ErrorCode } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import type { Uploads } from '../knowledge/uploads.ts'
import type { Import } from './import-records.ts'
import { type TarMember, wrongArchive } from './read-tar.ts'
import type { ArchivedFile } from './records.ts'

export interface ImportFilesDeps {
  collections: Pick<Collections, 'assistants' | 'files'>
  uploads: Pick<Uploads, 'admit' | 'receive'>
}

/** Their records are held until their bytes come. */
const maxFiles = 20_000
const refusalCodes: ErrorCode[] = ['bad_request', 'payload_too_large', 'not_found', 'forbidden', 'unavailable']

/**
 * Files of an archive: first their records, then their bytes. Each is an upload of its own to its assistant, with the
 * quota and the ingestion of every upload. The id of the ingestion tells whether the file was imported before.
 */
export function createFileImport({ collections, uploads }: ImportFilesDeps, { userId, idOf, report }: Import) {
  const announced = new Map<string, Static<typeof ArchivedFile>>()

  return {
    announce(file: Static<typeof ArchivedFile>): void {
      if (announced.size >= maxFiles) throw wrongArchive(`it has more than ${maxFiles} files`)
      announced.set(file.path, file)
    },

    isAnnounced: (path: string): boolean => announced.has(path),

    async receive({ name: path, content }: TarMember): Promise<void> {
      const file = announced.get(path)
      if (file === undefined) throw wrongArchive('it holds a file without a record, or one file twice')
      announced.delete(path)
      try {
        report.count(await store(file, content), 'files')
      } catch (error) {
        if (!isRefusal(error)) throw error
        report.refuse('files', file.file_id, error)
      }
    },

    /** Their bytes were not there any more when the archive was made. */
    end(): void {
      for (const { file_id: id } of announced.values())
        report.refuse('files', id, 'the archive does not hold its bytes')
    },
  }

  async function store(file: Static<typeof ArchivedFile>, content: TarMember['content']) {
    const assistantId = idOf('assistant', file.assistant_id)
    const ingestionId = idOf('ingestion', file.file_id)
    const assistant = await collections.assistants
      .findOne({ _id: assistantId, user_id: userId, deleting: { $ne: true } })
      .lean<AssistantRecord>()
    if (assistant === null) throw new AppError('not_found', 'its assistant was not imported')
    const known = { assistant_id: assistantId, ingestion_id: ingestionId, status: { $ne: 'uploading' as const } }
    if ((await collections.files.exists(known)) !== null) return 'existing'
    await uploads.admit(assistant)
    const part = {
      name: file.name.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '') || 'file',
      contentType: file.content_type,
      content: Readable.from(content, { objectMode: false }),
    }
    await uploads.receive(assistant, only(part), ingestionId)
    return 'imported'
  }
}

async function* only<T>(value: T): AsyncGenerator<T> {
  yield value
}

/** By a rule of the service, such as a quota, or for now; not a fault of the archive. */
function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && refusalCodes.includes(error.code)
}
