import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../domain/errors.ts'
import type { ObjectStore, ObjectUpload } from '../../services/object-store.ts'
import type { ObjectLocation } from './location.ts'
import { readObject } from './read-object.ts'
import { type S3Credentials, S3Refusal, type S3Requests, createS3Requests, isRefused } from './s3-requests.ts'

/** The least that S3 takes as a part. An object has 10,000 parts at most: 48 GiB. */
const pieceBytes = 5 * 1024 * 1024
const deletionsAtOnce = 8
/** A part that was under way while its upload was aborted can appear afterwards. */
const removalRounds = 4

/** One thing that stands under a key. */
interface Entry {
  key: string
  modifiedAt: Date
  versionId?: string
  uploadId?: string
}

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
    const query = uploadId !== undefined ? { uploadId } : versionId !== undefined ? { versionId } : {}
    await requests.xml({ method: 'DELETE', key: ofStore(key), query }).catch((error: unknown) => {
      if (!(error instanceof S3Refusal && error.status === 404)) throw error
    })
  }

  return {
    pieceBytes,
    upload: (key) => uploadTo(requests, key),
    read: (key, length, from = 0) => readObject(requests, key, length, from),

    async remove(prefix) {
      for (let round = 1; ; round++) {
        let found = 0
        let under: Promise<void>[] = []
        for await (const entry of entries(prefix)) {
          found += 1
          under.push(removeEntry(entry))
          if (under.length < deletionsAtOnce) continue
          await Promise.all(under)
          under = []
        }
        await Promise.all(under)
        if (found === 0) return
        if (round === removalRounds)
          throw new AppError('unavailable', `The object store still has ${found} objects that were deleted.`)
        if (round > 1) await sleep(100 * 2 ** round)
      }
    },

    async *everything(prefix) {
      for await (const { key, modifiedAt } of entries(prefix)) yield { key: ofStore(key), modifiedAt }
    },

    async ping() {
      const query = { 'list-type': '2', 'max-keys': '1', prefix: location.prefix }
      await requests.xml({ method: 'GET', query, attempts: 1, answerMs: 2000 })
    },
  }
}

/** The same requests, with refusals that nobody handles as errors of the service. Their messages hold no foreign text. */
function named(requests: S3Requests): S3Requests {
  const asOurs = (error: unknown): never => {
    if (!(error instanceof S3Refusal) || [404, 416, 501].includes(error.status)) throw error
    throw new AppError('unavailable', `The object store refuses requests (${error.status} ${error.code}).`, {
      cause: error,
    })
  }
  return {
    xml: (given) => requests.xml(given).catch(asOurs),
    open: (given) => requests.open(given).catch(asOurs),
  }
}

/** One piece is being stored while the next arrives. An object of one piece is stored with one request. */
function uploadTo(requests: S3Requests, key: string): ObjectUpload {
  const abandoned = new AbortController()
  const { signal } = abandoned
  const tags: string[] = []
  let first: Buffer | undefined
  let uploadId: string | undefined
  let size = 0
  let storing: Promise<void> = Promise.resolve()

  async function storePart(id: string, part: number, body: Buffer): Promise<void> {
    const query = { partNumber: String(part), uploadId: id }
    const { headers } = await requests.xml({ method: 'PUT', key, query, body, signal }).catch(goneUpload)
    tags[part - 1] = headers.get('etag') ?? ''
  }
  const begin = (id: string, body: Buffer) => {
    storing = storePart(id, tags.push(''), body)
    storing.catch(() => undefined)
  }

  return {
    async add(bytes) {
      size += bytes.length
      if (uploadId === undefined) {
        if (first === undefined) {
          first = bytes
          return
        }
        const { members } = await requests.xml({ method: 'POST', key, query: { uploads: '' }, signal })
        uploadId = members.UploadId
        if (uploadId === undefined) throw new AppError('unavailable', 'The object store began no upload.')
        begin(uploadId, first)
      }
      await storing
      begin(uploadId, bytes)
    },

    async complete() {
      await storing
      if (uploadId === undefined) {
        await requests.xml({ method: 'PUT', key, body: first ?? Buffer.alloc(0), signal })
        return
      }
      const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`)
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
      await requests.xml({ method: 'POST', key, query: { uploadId }, body, signal }).catch(async (error: unknown) => {
        // Perhaps an earlier attempt completed it, and its answer was lost.
        if (isRefused(error, 'NoSuchUpload') && (await sizeOf(requests, key, signal)) === size) return
        goneUpload(error)
      })
    },

    async abandon() {
      abandoned.abort(new Error('the upload was given up'))
      await storing.catch(() => undefined)
    },
  }
}

function goneUpload(error: unknown): never {
  if (isRefused(error, 'NoSuchUpload')) throw new AppError('not_found', 'The file was deleted during its upload.')
  throw error
}

async function sizeOf(requests: S3Requests, key: string, signal: AbortSignal): Promise<number | undefined> {
  const headers = { range: 'bytes=0-0' }
  const response = await requests.open({ method: 'GET', key, headers, signal }).catch(() => undefined)
  await response?.body?.cancel()
  const total = /\/(\d+)$/.exec(response?.headers.get('content-range') ?? '')
  return total === null ? undefined : Number(total[1])
}

const escaped = (tag: string) => tag.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** Versions and markers of deletions. Stores without versions may refuse the question: then the objects. */
async function* versions(requests: S3Requests, prefix: string): AsyncGenerator<Entry> {
  try {
    yield* pages(requests, { versions: '', prefix }, ['Version', 'DeleteMarker'], {
      'key-marker': 'NextKeyMarker',
      'version-id-marker': 'NextVersionIdMarker',
    })
  } catch (error) {
    if (!(error instanceof S3Refusal && error.status === 501)) throw error
    yield* pages(requests, { 'list-type': '2', prefix }, ['Contents'], { 'continuation-token': 'NextContinuationToken' })
  }
}

const uploads = (requests: S3Requests, prefix: string) =>
  pages(requests, { uploads: '', prefix }, ['Upload'], {
    'key-marker': 'NextKeyMarker',
    'upload-id-marker': 'NextUploadIdMarker',
  })

/** All pages of a list. `markers`: the parameters of the next request, and the members of an answer with their values. */
async function* pages(
  requests: S3Requests,
  query: Record<string, string>,
  names: string[],
  markers: Record<string, string>,
): AsyncGenerator<Entry> {
  let next: Record<string, string> = {}
  for (;;) {
    const { members, items } = await requests.xml({ method: 'GET', query: { ...query, ...next } })
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
    const following = Object.entries(markers).flatMap(([parameter, member]) => {
      const value = members[member]
      return value === undefined || value === '' ? [] : [[parameter, value]]
    })
    const after: Record<string, string> = Object.fromEntries(following)
    // A store that repeats a page would be asked for ever.
    if (following.length === 0 || JSON.stringify(after) === JSON.stringify(next))
      throw new AppError('unavailable', 'The object store does not end its list.')
    next = after
  }
}
