import { type AppError, invalidInput } from '../../domain/errors.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import { projectFileStore } from '../stores/files.ts'
import { type ProjectFileRecords, touching } from './project-file-records.ts'
import type { UploadPart } from './upload.ts'

interface ReceiveDeps {
  collections: Pick<Collections, 'files'>
  records: ProjectFileRecords
}

/** A part of an upload: a file, or a field of the form. */
export type FormPart = { file: UploadPart } | { field: string; value: string }

export type ReceiveProjectFile = ReturnType<typeof createReceiveProjectFile>

/** Stores an uploaded file of a project. */
export function createReceiveProjectFile({ collections, records }: ReceiveDeps) {
  /**
   * Stores the file of a form; `membersOf` reads its fields, which may come after the file, and throws for wrong ones.
   * All or nothing.
   */
  return async function receive(
    caller: Caller,
    parts: AsyncIterable<FormPart>,
    membersOf: (fields: Map<string, string>) => Pick<FileRecord, 'purpose' | 'expires_at'>,
  ): Promise<FileRecord> {
    const fields = new Map<string, string>()
    let record: FileRecord | undefined
    let refusal: AppError | undefined
    const touch = async () => {
      if (record) await projectFileStore(collections).keepAlive(record)
    }
    try {
      await touching(touch, async () => {
        for await (const part of parts) {
          if ('field' in part) fields.set(part.field, part.value)
          else if (record !== undefined) throw invalidInput(['body', 'file'], 'an upload has one file')
          else {
            const { name, contentType, content } = part.file
            record = await records.open(caller, { name, contentType })
            refusal = await records.store(record, content)
          }
        }
      })
      const members = membersOf(fields)
      if (record === undefined) throw invalidInput(['body', 'file'], 'is required', 'missing')
      if (refusal !== undefined) throw refusal
      return await records.show(caller, record, members)
    } catch (error) {
      if (record) await records.discard(record)
      throw error
    }
  }
}
