import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { DumpEntry } from './dump.ts'

/**
 * The file with the bytes of a `file` of the dump: where `path` says, seen from the dump, else `files/{id}`. Throws
 * with words if it is not there, lies outside of the dump's folder, or has another size.
 */
export async function bytesOf(dump: string, { id }: DumpEntry, object: Record<string, unknown>): Promise<string> {
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
