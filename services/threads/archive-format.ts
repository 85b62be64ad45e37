import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { parseOwnJson } from '../../domain/own-json.ts'
import type { SecretBox } from '../secrets.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** An entry of a log: its id, and its `messages_json`. */
export type ArchivedText = [id: string, text: string]

/** Larger threads stay in the database: an archive is made and read in memory. */
export const archivableBytes = 16 * 1024 * 1024
/** Texts as JSON strings are at most six times as long; ids and signs come on top. */
const plainBytes = 8 * archivableBytes

/** Where the object belongs: it can be opened only for this thread, and only under this name. */
const contextOf = (threadId: string, blobId: string) => `thread-archive/${threadId}/${blobId}`

/** The texts of a thread as one object: a JSON array a line, compressed by gzip, sealed for the thread. */
export async function packTexts(
  box: Pick<SecretBox, 'sealBytes'>,
  { threadId, blobId }: { threadId: string; blobId: string },
  texts: ArchivedText[],
): Promise<Buffer> {
  const lines = texts.map((each) => JSON.stringify(each)).join('\n')
  return box.sealBytes(await compress(lines), contextOf(threadId, blobId))
}

/** Throws if the object is truncated, changed, that of another thread, or its key is not among ours. */
export async function unpackTexts(
  box: Pick<SecretBox, 'openBytes'>,
  { threadId, blobId }: { threadId: string; blobId: string },
  object: Buffer,
): Promise<ArchivedText[]> {
  const packed = box.openBytes(object, contextOf(threadId, blobId))
  const lines = (await decompress(packed, { maxOutputLength: plainBytes })).toString('utf8')
  return lines.split('\n').map((line) => parseOwnJson<ArchivedText>(line))
}
