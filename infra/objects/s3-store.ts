import { setTimeout as sleep } from 'node:timers/promises'
import { backOffMs } from '../../domain/back-off.ts'
import { AppError } from '../../domain/errors.ts'
import type { ObjectStore } from '../../services/object-store.ts'
import type { ObjectLocation } from './location.ts'
import {
  type S3Credentials,
  type S3Requests,
  S3Refusal,
  attempts,
  unavailable,
  createS3Requests,
  pauseAfter,
} from './s3-requests.ts'
import { uploadTo } from './s3-upload.ts'

/** The least that S3 takes as a part. An object has 10,000 parts at most: 48 GiB. */
const pieceBytes = 5 * 1024 * 1024
const deletionsAtOnce = 8
/** A part that was under way while its upload was aborted can appear afterwards. */
const removalRounds = 4

/**
 * Objects in an S3-compatible store (https://docs.aws.amazon.com/AmazonS3/latest/API/), each under the prefix of the
 * setting. Only operations that all such stores have. Why not the SDK: docs/decisions/2026-11-26-bytes-in-s3.md.
 */
export function createS3Store(
  location: ObjectLocation,
  credentials: S3Credentials,
  fetch: typeof globalThis.fetch,
): ObjectStore {
  const requests = named(createS3Requests(location, credentials, fetch))
  const inBucket = (prefix: string) => `${location.prefix}${prefix}`
  const ofStore = (key: string) => key.slice(location.prefix.length)

  async function* entries(prefix: string): AsyncGenerator<Entry> {
    yield* versions(requests, inBucket(prefix))
    yield* uploads(requests, inBucket(prefix))
  }

  async function removeEntry({ key, versionId, uploadId }: Entry): Promise<void> {
    const query: Record<string, string> =
      uploadId !== undefined ? { uploadId } : versionId !== undefined ? { versionId } : {}
    await requests.xml({ method: 'DELETE', key: ofStore(key), query }).catch((error: unknown) => {
      if (error instanceof S3Refusal && error.status === 404) return
      // Versions of a key that are removed at once may hinder each other: the next round finds what is left.
      if (!(error instanceof AppError && error.cause instanceof S3Refusal && error.cause.status === 400)) throw error
    })
  }

  /** How many entries there were. */
  async function removeAll(prefix: string): Promise<number> {
    let found = 0
    let group: Entry[] = []
    const removed = () => Promise.all(group.map(removeEntry))
    for await (const entry of entries(prefix)) {
      found += 1
      group.push(entry)
      if (group.length < deletionsAtOnce) continue
      await removed()
      group = []
    }
    await removed()
    return found
  }

  return {
    name: `s3://${location.bucket}/${location.prefix}`,
    pieceBytes,
    upload: (key) => uploadTo(requests, key),
    create: (key, bytes) => create(requests, key, bytes),
    read: (key, length, from = 0) => readObject(requests, key, length, from),

    async remove(prefix) {
      for (let round = 1; ; round++) {
        const found = await removeAll(prefix)
        if (found === 0) return
        if (round === removalRounds)
          throw new AppError('unavailable', `The object store still has ${found} objects that were deleted.`)
        if (round > 1) await sleep(backOffMs(round, { firstMs: 200 }))
      }
    },

    async *everything(prefix) {
      for await (const { key, modifiedAt } of entries(prefix)) yield { key: ofStore(key), modifiedAt }
    },

    async ping() {
      const query = { 'list-type': '2', 'max-keys': '1', prefix: location.prefix }
      await requests.xml({ method: 'GET', query, attempts: 1, answerMs: 2000, root: 'ListBucketResult' })
    },
  }
}

/** The same requests, with refusals that nobody handles as errors of the service. Their messages hold no foreign text. */
function named(requests: S3Requests): S3Requests {
  const asOurs = (error: unknown): never => {
    if (!(error instanceof S3Refusal) || [404, 412, 416, 501].includes(error.status)) throw error
    throw new AppError('unavailable', `The object store refuses requests (${error.status} ${error.code}).`, {
      cause: error,
    })
  }
  return {
    xml: (given) => requests.xml(given).catch(asOurs),
    open: (given) => requests.open(given).catch(asOurs),
  }
}

async function create(requests: S3Requests, key: string, bytes: Buffer): Promise<boolean> {
  try {
    await requests.xml({ method: 'PUT', key, headers: { 'if-none-match': '*' }, body: bytes })
    return true
  } catch (error) {
    if (!(error instanceof S3Refusal && error.status === 412)) throw error
  }
  // Perhaps an earlier attempt stored it, and its answer was lost.
  try {
    return bytes.equals(Buffer.concat(await Array.fromAsync(readObject(requests, key, bytes.length, 0))))
  } catch (error) {
    if (error instanceof AppError && error.code === 'internal') return false
    throw error
  }
}

/** How long the next bytes may take; and all in all this, and a second for each 16 KB that came. */
const longestWaitMs = 30_000
const slowestBytesPerMs = 16
/** So much must arrive for one more attempt, so that a store cannot send one byte each time. */
const bytesPerAttempt = 1024 * 1024

/**
 * The bytes of an object, from `start` to its end at `length`. An answer that breaks or stalls is continued with a new
 * request. Reads no more than it asked for.
 */
export async function* readObject(
  requests: Pick<S3Requests, 'open'>,
  key: string,
  length: number,
  start: number,
  patienceMs = longestWaitMs,
): AsyncGenerator<Uint8Array> {
  let at = start
  for (let failures = 0; at < length;) {
    const ended = new AbortController()
    try {
      for await (const bytes of partOf(requests, { key, from: at, length, ended, patienceMs })) {
        at += bytes.length
        yield bytes
      }
    } catch (error) {
      if (error instanceof S3Refusal && (error.status === 404 || error.status === 416)) throw missing(key, error)
      if (error instanceof S3Refusal || error instanceof AppError) throw error
      failures += 1
      if (failures >= attempts + (at - start) / bytesPerAttempt) throw unavailable(error)
      await sleep(pauseAfter(error, failures))
    } finally {
      ended.abort()
    }
  }
}

interface Part {
  key: string
  from: number
  length: number
  ended: AbortController
  patienceMs: number
}

/** Throws when fewer bytes come than were asked for. */
async function* partOf(
  requests: Pick<S3Requests, 'open'>,
  { key, from, length, ended, patienceMs }: Part,
): AsyncGenerator<Uint8Array> {
  const { signal } = ended
  const response = await requests.open({
    method: 'GET',
    key,
    headers: { range: `bytes=${from}-${length - 1}` },
    signal,
  })
  checkRange(response, key, from, length)
  if (response.body === null) throw new Error('the object store sent no bytes')
  const body: ReadableStream<Uint8Array> = response.body
  const reader = body.getReader()
  let waitedMs = 0
  let received = 0
  while (from + received < length) {
    const leftMs = Math.min(patienceMs, patienceMs + received / slowestBytesPerMs - waitedMs)
    const timer = setTimeout(() => ended.abort(new Error('the object store sends too slowly')), Math.max(0, leftMs))
    const requestedAt = performance.now()
    const { done, value } = await reader.read().finally(() => clearTimeout(timer))
    waitedMs += performance.now() - requestedAt
    if (done) throw new Error('the object store sent too few bytes')
    const bytes = value.subarray(0, length - from - received)
    received += bytes.length
    yield bytes
  }
}

function checkRange(response: Response, key: string, from: number, length: number): void {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '')
  const isWhole = response.status === 200 && from === 0 && response.headers.get('content-length') === String(length)
  if (isWhole || (response.status === 206 && Number(range?.[1]) === from && Number(range?.[2]) === length)) return
  throw missing(key)
}

/** Retryable: a deletion under way removes the record next. */
function missing(key: string, cause?: unknown): AppError {
  return new AppError('internal', `bytes of object ${key} are missing`, { cause })
}

/** One thing that stands under a key. */
interface Entry {
  key: string
  modifiedAt: Date
  versionId?: string
  uploadId?: string
}

/** Versions and markers of deletions. Stores without versions may refuse the question: then the objects. */
async function* versions(requests: S3Requests, prefix: string): AsyncGenerator<Entry> {
  try {
    yield* pages(requests, 'ListVersionsResult', { versions: '', prefix }, ['Version', 'DeleteMarker'], {
      'key-marker': 'NextKeyMarker',
      'version-id-marker': 'NextVersionIdMarker',
    })
  } catch (error) {
    if (!(error instanceof S3Refusal && error.status === 501)) throw error
    yield* pages(requests, 'ListBucketResult', { 'list-type': '2', prefix }, ['Contents'], {
      'continuation-token': 'NextContinuationToken',
    })
  }
}

const uploads = (requests: S3Requests, prefix: string) =>
  pages(requests, 'ListMultipartUploadsResult', { uploads: '', prefix }, ['Upload'], {
    'key-marker': 'NextKeyMarker',
    'upload-id-marker': 'NextUploadIdMarker',
  })

/** All pages of a list. `markers`: the parameters of the next request, and the members of an answer with their values. */
async function* pages(
  requests: S3Requests,
  root: string,
  query: Record<string, string>,
  names: string[],
  markers: Record<string, string>,
): AsyncGenerator<Entry> {
  let next: Record<string, string> = {}
  for (;;) {
    const { members, items } = await requests.xml({ method: 'GET', query: { ...query, ...next }, root })
    for (const { name, members: entry } of items) {
      if (!names.includes(name) || entry.Key === undefined || !entry.Key.startsWith(query.prefix ?? '')) continue
      yield {
        key: entry.Key,
        modifiedAt: new Date(entry.LastModified ?? entry.Initiated ?? ''),
        ...(entry.VersionId !== undefined && { versionId: entry.VersionId }),
        ...(entry.UploadId !== undefined && { uploadId: entry.UploadId }),
      }
    }
    if (members.IsTruncated !== 'true') return
    const after: Record<string, string> = {}
    for (const [parameter, member] of Object.entries(markers)) {
      const value = members[member]
      if (value !== undefined && value !== '') after[parameter] = value
    }
    // A store that repeats a page would be asked for ever.
    if (Object.keys(after).length === 0 || JSON.stringify(after) === JSON.stringify(next))
      throw new AppError('unavailable', 'The object store does not end its list.')
    next = after
  }
}
