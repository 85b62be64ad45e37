import { openAsBlob } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { DumpEntry } from './dump.ts'
import type { Importing } from './importing.ts'
import { requestFor } from './new-objects.ts'
import { sendInParts } from './request-in-parts.ts'

/** Makes an object on the server and notes it. Answers its id. */
export async function makeObject(importing: Importing, entry: DumpEntry, threadId?: string): Promise<string> {
  const { dump, progress } = importing
  // Of a thread that has no line, only the id is known.
  const object = entry.bytes === 0 ? {} : await dump.read(entry)
  const id =
    entry.kind === 'file' ? await upload(importing, entry, object) : await create(importing, entry, object, threadId)
  await progress.end(entry.kind, entry.id, id)
  return id
}

async function create(
  { client, progress, report, newIds }: Importing,
  entry: DumpEntry,
  object: Record<string, unknown>,
  threadId: string | undefined,
): Promise<string> {
  const { kind, id } = entry
  const leftOut = (part: string, reason: string) => report.leftOut(kind, id, part, reason)
  const request = requestFor(entry, object, newIds.of, leftOut)
  const key = await progress.begin(kind, id)
  const made = await sendInParts(
    request,
    (body, attempt) =>
      client.post<{ id: string }>(pathOf({ newIds }, entry, threadId), {
        body,
        headers: { 'openai-beta': 'assistants=v2', 'idempotency-key': `${key}-${attempt}` },
      }),
    leftOut,
  )
  return made.id
}

function pathOf({ newIds }: Pick<Importing, 'newIds'>, entry: DumpEntry, threadId = ''): string {
  switch (entry.kind) {
    case 'file':
      return '/files'
    case 'assistant':
      return '/assistants'
    case 'vector_store':
      return '/vector_stores'
    case 'vector_store.file':
      return `/vector_stores/${newIds.ofEntry(entry).store}/files`
    case 'thread':
      return '/threads'
    case 'thread.message':
      return `/threads/${threadId}/messages`
  }
}

async function upload(
  { client, dumpFile, progress }: Importing,
  entry: DumpEntry,
  object: Record<string, unknown>,
): Promise<string> {
  const file = await bytesOf(dumpFile, entry, object)
  const filename = typeof object['filename'] === 'string' ? object['filename'] : entry.id
  // What the tools of the old server made can only be uploaded as what an assistant reads.
  const purpose = object['purpose'] === 'vision' ? 'vision' : 'assistants'
  await progress.begin(entry.kind, entry.id)
  const made = await client.files.create({ file: new File([await openAsBlob(file)], filename), purpose })
  return made.id
}

/**
 * The file with the bytes of a `file` of the dump: where `path` says, seen from the dump, else `files/{id}`. Throws
 * with words if it is not there, lies outside of the dump's folder, or has another size.
 */
async function bytesOf(dump: string, { id }: DumpEntry, object: Record<string, unknown>): Promise<string> {
  const folder = await realpath(path.dirname(path.resolve(dump)))
  const { path: named = path.join('files', id), bytes } = object
  if (typeof named !== 'string') throw new Error('path is not a text')
  const file = await realpath(path.resolve(folder, named)).catch(() => undefined)
  if (file === undefined) throw new Error(`there is no ${named} beside the dump: put the bytes of the file there`)
  if (!file.startsWith(folder + path.sep)) throw new Error(`${named} is outside of the folder of the dump`)
  const { size, isFile } = await stat(file).then((found) => ({ size: found.size, isFile: found.isFile() }))
  if (!isFile) throw new Error(`${named} is not a file`)
  if (typeof bytes === 'number' && bytes !== size)
    throw new Error(`${named} has ${size} bytes; the dump says that it has ${bytes}`)
  return file
}
