import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { containerFileId } from '../../domain/container-ids.ts'
import type { AttachedPart } from '../../domain/content-parts.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { writtenTypeOf } from '../attachments/content-type.ts'
import { type NewAttachment, storeAttachments, withAttachments } from '../attachments/receive-content.ts'
import type { Collections } from '../collections.ts'
import type { ProjectFiles } from '../knowledge/project-files.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import type { Caller } from '../owner.ts'
import { attachmentStore } from '../stores/attachments.ts'
import { containerLimits, useContainer } from './container-use.ts'
import type { SessionFile } from './interpreter.ts'

export interface KeepWrittenDeps {
  collections: Pick<Collections, 'attachments' | 'threads'>
  projectFiles: Pick<ProjectFiles, 'receive'>
  storageQuota: Pick<StorageQuota, 'requireRoom'>
}

type Written = NewAttachment & { is_written: true }

interface FileOwner {
  threadId: string
  /** The container that has the files, too. */
  container?: string | undefined
  /** They become files of the project, too. */
  keepsFiles: boolean
}

/**
 * Stores what code has written with the thread, and wherever else its run wants it. Throws `not_found` if its container
 * was deleted meanwhile.
 */
export async function keepWritten(
  deps: KeepWrittenDeps,
  caller: Caller,
  files: SessionFile[],
  { threadId, container, keepsFiles }: FileOwner,
): Promise<{ parts: AttachedPart[]; refused: string[] }> {
  const created_at = new Date()
  const written = files.map(({ path, bytes }): Written => ({
    _id: newId(),
    name: path,
    content_type: writtenTypeOf(bytes),
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes,
    is_written: true,
  }))
  // What a container has, the thread has, too.
  const copies = container === undefined ? 1 : 2
  const { stored, full } = await withinStorage(deps, caller, written, copies)
  const records = container === undefined ? stored : await withRoom(deps.collections, container, stored)
  if (container !== undefined) {
    const ofContainer = records.map((record) => ({ ...record, _id: containerFileId(record._id) }))
    const owner = { thread_id: container, user_id: caller.userId, created_at }
    // Either the deletion of the container sees the copies, or they see it.
    const work = () => useContainer(deps.collections, caller, container)
    await withAttachments(deps.collections, owner, { given: ofContainer, work })
  }
  await storeAttachments(deps.collections, { thread_id: threadId, user_id: caller.userId, created_at }, records)
  const parts: AttachedPart[] = []
  const refused = [
    ...full,
    ...stored
      .filter((record) => !records.includes(record))
      .map(({ name }) => `${name}: the container has no room for it`),
  ]
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

/** The files for which the account has room, and why there is none for the others. */
async function withinStorage(
  { storageQuota }: Pick<KeepWrittenDeps, 'storageQuota'>,
  { userId }: Caller,
  written: Written[],
  copies: number,
): Promise<{ stored: Written[]; full: string[] }> {
  const stored: Written[] = []
  const full: string[] = []
  let bytes = 0
  for (const record of written) {
    const refusal = await refusalOf(() => storageQuota.requireRoom(userId, bytes + copies * record.size))
    if (refusal !== undefined) full.push(`${record.name}: ${refusal.message}`)
    else {
      bytes += copies * record.size
      stored.push(record)
    }
  }
  return { stored, full }
}

/** What says that something is too large; other errors are thrown. */
async function refusalOf(work: () => Promise<unknown>): Promise<AppError | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'payload_too_large') return error
    throw error
  }
}

/** The files for which a container has room. If it is full, what code has written to the same paths before goes first. */
async function withRoom(
  collections: Pick<Collections, 'attachments'>,
  container: string,
  written: Written[],
): Promise<Written[]> {
  const store = attachmentStore(collections)
  let there = await store.listSizes(container)
  const fitting = () => {
    let files = containerLimits.files - there.length
    let bytes = containerLimits.allBytes - there.reduce((sum, { size }) => sum + size, 0)
    return written.filter(({ size }) => {
      if (files < 1 || size > bytes) return false
      files -= 1
      bytes -= size
      return true
    })
  }
  if (fitting().length === written.length) return written
  const paths = new Set(written.map(({ name }) => name))
  const older = there.filter(({ name, is_written }) => is_written === true && paths.has(name))
  await store.remove(
    container,
    older.map(({ _id }) => _id),
  )
  there = there.filter((one) => !older.includes(one))
  return fitting()
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
