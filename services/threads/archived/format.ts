import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { bytesWithin } from '../../../domain/bytes-within.ts'
import { parseOwnJson } from '../../../domain/own-json.ts'
import type { SecretBox } from '../../secrets.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** What a text belongs to: an entry of the log, a run (its input), or a call (its arguments and its result). */
export const textKinds = ['entry', 'run', 'call'] as const
export type TextKind = (typeof textKinds)[number]

/** A text that was moved out of a record: the record's id, the text, and the kind unless it is `entry`. */
export type ArchivedText = [id: string, text: string, kind?: TextKind]

/** A text of an object, by its record. */
export const textKey = (id: string, kind: TextKind = 'entry') => `${kind}/${id}`

/**
 * Of one object: it is made and read in memory, and its texts change in one transaction, for which MongoDB recommends at
 * most a thousand records. A thread with more has several.
 */
export const maxArchived = { bytes: 16 * 1024 * 1024, texts: 1000 } as const
/** Texts as JSON strings are at most six times as long; ids and signs come on top. */
const maxPlainBytes = 8 * maxArchived.bytes

/** Where an object belongs: it can be opened only for this thread, and only under this name. */
export interface ObjectPlace {
  threadId: string
  blobId: string
}

const contextOf = ({ threadId, blobId }: ObjectPlace) => `thread-archive/${threadId}/${blobId}`

/** Texts of a thread as one object: a JSON array a line, compressed by gzip, sealed for its place. */
export async function packTexts(
  box: Pick<SecretBox, 'sealBytes'>,
  place: ObjectPlace,
  texts: ArchivedText[],
): Promise<Buffer> {
  const lines = texts.map((each) => JSON.stringify(each)).join('\n')
  return box.sealBytes(await compress(lines), contextOf(place))
}

/**
 * Throws if the object is truncated, changed, or that of another place, or its key is not among ours. Nothing is
 * decompressed before the seal is found whole.
 */
export async function unpackTexts(
  box: Pick<SecretBox, 'openBytes'>,
  place: ObjectPlace,
  object: Buffer,
): Promise<ArchivedText[]> {
  const packed = box.openBytes(object, contextOf(place))
  const lines = (await decompress(packed, { maxOutputLength: maxPlainBytes })).toString('utf8')
  return lines.split('\n').map((line) => parseOwnJson<ArchivedText>(line))
}

/** The same object for another place, sealed under the current key. */
export function resealObject(
  box: Pick<SecretBox, 'sealBytes' | 'openBytes'>,
  object: Buffer,
  from: ObjectPlace,
  to: ObjectPlace,
): Buffer {
  return box.sealBytes(box.openBytes(object, contextOf(from)), contextOf(to))
}

/** The object's bytes; throws if there are more than any object of ours has. */
export async function readObject(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const bytes = await bytesWithin(source, maxPlainBytes)
  if (bytes === undefined) throw new Error('the object is too large')
  return bytes
}
