import { AppError } from '../../domain/errors.ts'
import type { ObjectUpload } from '../../services/object-store.ts'
import { type S3Requests, isRefused } from './s3-requests.ts'

/** S3 may take several minutes to make an object of its parts. */
const completionMs = 10 * 60_000

/** One piece is being stored while the next arrives. An object of one piece is stored with one request. */
export function uploadTo(requests: S3Requests, key: string): ObjectUpload {
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
      const parts = tags.map(
        (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
      )
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
      const options = { answerMs: completionMs, root: 'CompleteMultipartUploadResult', signal }
      await requests
        .xml({ method: 'POST', key, query: { uploadId }, body, ...options })
        .catch(async (error: unknown) => {
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
