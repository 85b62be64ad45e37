import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'

/** Where a dump has the bytes of a file. Ids of other servers may hold anything; a name must not lead out of the folder. */
export const nameFor = (id: string) => path.join('files', encodeURIComponent(id).replaceAll('.', '%2E'))

/** Bytes that an interrupted export has read are not read again, if it is known how many there are. */
export async function download(
  target: string,
  bytes: number | undefined,
  read: () => Promise<Response>,
): Promise<number> {
  const there = await stat(target).catch(() => undefined)
  if (there?.isFile() && there.size === bytes) return bytes
  const answer = await read()
  const part = `${target}.part`
  try {
    if (answer.body === null) await finished(createWriteStream(part).end())
    else await pipeline(Readable.fromWeb(answer.body), createWriteStream(part, { mode: 0o600 }))
    const { size } = await stat(part)
    await rename(part, target)
    return size
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
