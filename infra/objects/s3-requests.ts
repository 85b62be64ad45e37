import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { backOffMs } from '../../domain/back-off.ts'
import { bytesWithin } from '../../domain/bytes-within.ts'
import { AppError } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/reason-of.ts'
import type { ObjectLocation } from './location.ts'
import { type XmlAnswer, parseXmlAnswer } from './xml-answer.ts'

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
}

interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Undefined for requests to the bucket. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Uint8Array
  signal?: AbortSignal | undefined
  /** Default: `attempts`. */
  attempts?: number
  /** Default: `answerMs`. */
  answerMs?: number
  /** The element that an answer must be; anything else counts as a failure that may pass. */
  root?: string
}

/** A refusal that another attempt would not change. `code` is one of S3's, or empty. */
export class S3Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(`the object store answers ${status}${code === '' ? '' : ` ${code}`}`)
    this.name = 'S3Refusal'
    this.status = status
    this.code = code
  }
}

/** What another attempt may change. */
class TransientRefusal extends Error {
  readonly waitMs: number | undefined

  constructor(message: string, options: ErrorOptions & { waitMs?: number | undefined } = {}) {
    super(message, options)
    this.name = 'TransientRefusal'
    this.waitMs = options.waitMs
  }
}

export const attempts = 5
/** The longest `Retry-After` that a request waits for. */
const longestRequestedPauseMs = 20_000
/** A piece of 5 MiB over a slow line. After as much time in all there is no further attempt. */
const answerMs = 60_000
/** A list of 1000 entries takes half of it at most. */
const maxXmlBytes = 4 * 1024 * 1024
const transientStatuses = new Set([408, 429, 500, 502, 503, 504])
const transientCodes = new Set([
  'RequestTimeout',
  'SlowDown',
  'InternalError',
  'ServiceUnavailable',
  'OperationAborted',
  'ConditionalRequestConflict',
])
const sentBytes = 256 * 1024
const skewed = 'RequestTimeTooSkewed'
const noBody = new Uint8Array()

export type S3Requests = ReturnType<typeof createS3Requests>

/**
 * Signed requests to an S3-compatible store. What may pass is tried again, after `Retry-After` where the store says
 * it; when the store finds this machine's clock wrong, requests are signed with the time of its answers from then on.
 * Throws `S3Refusal` for what the store refuses, `unavailable` for a store that does not answer.
 */
export function createS3Requests(location: ObjectLocation, credentials: S3Credentials, fetch: typeof globalThis.fetch) {
  let clockOffsetMs = 0
  const signingKeys = new Map<string, ArrayBuffer>()

  async function send(request: S3Request, signal: AbortSignal): Promise<Response> {
    const { method, headers = {}, body } = request
    const time = new Date(Date.now() + clockOffsetMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
    if (signingKeys.size > 2) signingKeys.clear()
    const signer = new AwsV4Signer({
      ...credentials,
      method,
      url: addressOf(location, request).toString(),
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? noBody)
          .digest('hex'),
      },
      service: 's3',
      region: location.region,
      cache: signingKeys,
      datetime: time,
    })
    const signed = await signer.sign()
    // Not signed: proxies change it. Bytes arrive as they are stored, so that their number can be checked.
    signed.headers.set('accept-encoding', 'identity')
    const hasBody = body !== undefined && body.length > 0
    if (hasBody) signed.headers.set('content-length', String(body.length))
    return fetch(signed.url, {
      method,
      headers: signed.headers,
      signal,
      redirect: 'manual',
      ...(hasBody && { body: streamOf(body), duplex: 'half' }),
    })
  }

  /** One attempt. The answer has a status below 300, and its body has not been read. */
  async function attempt(request: S3Request, signal: AbortSignal): Promise<Response> {
    const response = await send(request, signal)
    if (response.status < 300) return response
    const { code } = errorIn(await xmlOf(response).catch(() => undefined))
    const { status, headers } = response
    if (code === skewed) {
      const storeTime = Date.parse(headers.get('date') ?? '')
      if (Number.isNaN(storeTime)) throw new S3Refusal(status, code)
      clockOffsetMs = storeTime - Date.now()
      throw new TransientRefusal(`the object store answers ${status} ${code}`, { waitMs: 0 })
    }
    const refusal = new S3Refusal(status, code)
    if (!transientStatuses.has(status) && !transientCodes.has(code)) throw refusal
    throw new TransientRefusal(refusal.message, { waitMs: requestedPauseMs(headers.get('retry-after')) })
  }

  /** `read` belongs to the attempt: what breaks while the answer is read is tried again, too. */
  async function request<T>(given: S3Request, read: (response: Response) => Promise<T>): Promise<T> {
    const most = given.attempts ?? attempts
    const longestMs = given.answerMs ?? answerMs
    const startedAt = performance.now()
    for (let made = 1; ; made++) {
      const limit = AbortSignal.timeout(longestMs)
      const signal = given.signal === undefined ? limit : AbortSignal.any([given.signal, limit])
      try {
        return await read(await attempt(given, signal))
      } catch (error) {
        given.signal?.throwIfAborted()
        if (error instanceof S3Refusal || error instanceof AppError) throw error
        if (made >= most || performance.now() - startedAt > longestMs) throw unavailable(error)
        await sleep(pauseAfter(error, made), undefined, { ...(given.signal && { signal: given.signal }) })
      }
    }
  }

  return {
    /** A request whose answer is XML, or empty. */
    xml: (given: S3Request): Promise<XmlAnswer & { headers: Headers }> =>
      request(given, async (response) => {
        const answer = await xmlOf(response)
        // Of a request that takes long, S3 sends 200 first and the failure later.
        if (answer.root === 'Error') throw new TransientRefusal(`the object store answers ${errorIn(answer).code}`)
        // Whoever answers so knows nothing of the request: as a list, it would look empty.
        if (given.root !== undefined && answer.root !== given.root)
          throw new TransientRefusal(`the object store answers without ${given.root}`)
        return { ...answer, headers: response.headers }
      }),

    /** The beginning of an answer with bytes. Its body is read without a time limit: the caller has one. */
    async open(given: S3Request & { signal: AbortSignal }): Promise<Response> {
      const limit = setTimeout(() => slow.abort(new Error('the object store does not answer in time')), answerMs)
      const slow = new AbortController()
      try {
        return await attempt(given, AbortSignal.any([given.signal, slow.signal]))
      } finally {
        clearTimeout(limit)
      }
    },
  }
}

/** Given bytes, `fetch` copies them twice before it sends them. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, (at += sentBytes)))
      else controller.close()
    },
  })
}

function addressOf({ bucket, prefix, endpoint, isVirtualHost }: ObjectLocation, { key, query = {} }: S3Request): URL {
  const url = new URL(endpoint)
  if (isVirtualHost) url.hostname = `${bucket}.${url.hostname}`
  const path = key === undefined ? '' : `${prefix}${key}`
  url.pathname = isVirtualHost ? `/${path}` : `/${bucket}${key === undefined ? '' : '/'}${path}`
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

/** For an error that is the last of several attempts. */
export function unavailable(cause: unknown): AppError {
  const text = reasonOf(cause)
  const message = text.includes(skewed)
    ? 'The clocks of this machine and of the object store differ.'
    : 'The object store does not answer.'
  return new AppError('unavailable', message, { retryAfterSeconds: 5, cause })
}

export function isRefused(error: unknown, ...codes: string[]): boolean {
  return error instanceof S3Refusal && codes.includes(error.code)
}

/** What the store asks for, else longer each time. `made`: attempts until now. */
export function pauseAfter(error: unknown, made: number): number {
  const pauseMs = backOffMs(made, { firstMs: 200, longestMs: 5000 }) * (0.5 + Math.random() / 2)
  return (error instanceof TransientRefusal ? error.waitMs : undefined) ?? pauseMs
}

/** Seconds, or a time (RFC 9110). */
function requestedPauseMs(given: string | null): number | undefined {
  if (given === null) return undefined
  const ms = /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(longestRequestedPauseMs, Math.max(0, ms))
}

function errorIn(answer: XmlAnswer | undefined): { code: string } {
  const code = answer?.root === 'Error' ? (answer.members.Code ?? '') : ''
  return { code: /^[A-Za-z.]{1,80}$/.test(code) ? code : '' }
}

async function xmlOf(response: Response): Promise<XmlAnswer> {
  const bytes = await bytesWithin(response.body ?? [], maxXmlBytes)
  if (bytes === undefined) throw new AppError('unavailable', 'The answer of the object store is too long.')
  return parseXmlAnswer(bytes.toString('utf8'))
}
