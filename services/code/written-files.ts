import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { AttachedPart } from '../../domain/content-parts.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import { writtenTypeOf } from '../attachments/content-type.ts'
import { storeAttachments } from '../attachments/store-attachments.ts'
import type { Collections } from '../collections.ts'
import type { ProjectFiles } from '../knowledge/project-files.ts'
import { containerFileId } from '../../domain/container-ids.ts'
import type { SessionFile } from './interpreter.ts'

export interface KeepWrittenDeps {
  collections: Pick<Collections, 'attachments'>
  projectFiles: Pick<ProjectFiles, 'receive'>
}

interface Place {
  threadId: string
  /** The container that has the files, too. */
  container?: string | undefined
  /** They become files of the project, too. */
  keepsFiles: boolean
}

/** Stores what code has written with the thread, and wherever else its run wants it. */
export async function keepWritten(
  deps: KeepWrittenDeps,
  caller: Caller,
  files: SessionFile[],
  { threadId, container, keepsFiles }: Place,
): Promise<{ parts: AttachedPart[]; refused: string[] }> {
  const created_at = new Date()
  const records = files.map(({ path, bytes }) => ({
    _id: newId(),
    name: path,
    content_type: writtenTypeOf(bytes),
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes,
    is_written: true,
  }))
  await storeAttachments(deps.collections, { thread_id: threadId, user_id: caller.userId, created_at }, records)
  if (container !== undefined) {
    const copies = records.map((record) => ({ ...record, _id: containerFileId(record._id) }))
    await storeAttachments(deps.collections, { thread_id: container, user_id: caller.userId, created_at }, copies)
  }
  const parts: AttachedPart[] = []
  const refused: string[] = []
  for (const { _id, name, content_type: contentType, size, bytes } of records) {
    const fileId = keepsFiles ? await fileOf(deps, caller, { path: name, bytes }) : undefined
    if (fileId instanceof AppError) refused.push(`${name}: ${fileId.message}`)
    const part = {
      attachment_id: _id,
      content_type: contentType,
      size,
      ...(typeof fileId === 'string' ? { file_id: fileId } : {}),
      name,
    }
    parts.push(contentType.startsWith('image/') ? { type: 'image', ...part } : { type: 'file', ...part })
  }
  return { parts, refused }
}

/** The id of a file of the project with these bytes, or why there is none. */
async function fileOf(
  { projectFiles }: Pick<KeepWrittenDeps, 'projectFiles'>,
  caller: Caller,
  { path, bytes }: SessionFile,
): Promise<string | AppError> {
  async function* form() {
    const content = Readable.from([bytes])
    yield { file: { name: path.slice(path.lastIndexOf('/') + 1), contentType: writtenTypeOf(bytes), content } }
  }
  try {
    const file = await projectFiles.receive(caller, form(), () => ({ purpose: 'assistants_output' }))
    return file._id
  } catch (error) {
    if (error instanceof AppError && error.code === 'payload_too_large') return error
    throw error
  }
}
