import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../domain/errors.ts'
import { S3Refusal, type S3Requests, attempts, away, pauseAfter } from './s3-requests.ts'

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
      if (failures >= attempts + (at - start) / bytesPerAttempt) throw away(error)
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
    const asked = performance.now()
    const { done, value } = await reader.read().finally(() => clearTimeout(timer))
    waitedMs += performance.now() - asked
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
