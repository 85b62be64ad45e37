import { setTimeout as pause } from 'node:timers/promises'
import { isJsonObject } from '../domain/json.ts'
import type { ClientLog } from './client-log.ts'
import type { Random } from './random.ts'

export interface CallOptions {
  token?: string | undefined
  /** `Idempotency-Key`; with it a request is repeated until its answer is definite. */
  key?: string
  body?: object
  form?: () => FormData
  headers?: Record<string, string>
}

export interface Answer {
  status: number
  body: Record<string, unknown>
}

/** The client received no definite answer within `patienceMs`. */
export class GaveUpError extends Error {
  override readonly name = 'GaveUpError'
}

export type Caller = ReturnType<typeof createCaller>

const attemptMs = 30_000

/**
 * A client that follows the documentation: it repeats a request without a definite answer, at another API process,
 * with the same idempotency key.
 */
export function createCaller({
  urls,
  random,
  log,
  patienceMs,
  isBehindProxy = false,
}: {
  urls: string[]
  random: Random
  log: ClientLog
  /** How long a request is repeated. */
  patienceMs: number
  /** A proxy answers 502 or 504 for an API process that goes away in the middle of a request. */
  isBehindProxy?: boolean
}) {
  let turn = random.between(0, urls.length - 1)
  const nextUrl = () => urls[++turn % urls.length] ?? ''

  /** One attempt; the body of the answer has not been read yet. */
  function attempt(method: string, path: string, options: CallOptions, signal: AbortSignal): Promise<Response> {
    const { token, key, body, form, headers = {} } = options
    return fetch(`${nextUrl()}${path}`, {
      method,
      signal,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(form === undefined ? {} : { body: form() }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** Whether an answer is definite. Logs answers that the service must never give. */
  function isDefinite(response: { status: number; headers: Headers }, what: string, body: string): boolean {
    const { status } = response
    const isOfProxy = isBehindProxy && (status === 502 || status === 504)
    if (status >= 500 && status !== 503 && !isOfProxy) {
      const now = Date.now()
      log.report({
        kind: 'wrong',
        what: `${what} was answered ${status}: ${body.slice(0, 200)}`,
        from: now,
        until: now,
      })
    }
    return status < 500 && status !== 408 && status !== 429 && !(status === 409 && response.headers.has('retry-after'))
  }

  /** The definite answer. Throws `GaveUpError` if there is none within `patienceMs`. */
  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const deadline = Date.now() + patienceMs
    let last = ''
    for (let attempts = 0; Date.now() < deadline; attempts++) {
      if (attempts > 0) await pause(Math.min(2_000, 100 * 2 ** attempts))
      try {
        const response = await attempt(method, path, options, AbortSignal.timeout(attemptMs))
        const text = await response.text()
        if (isDefinite(response, `${method} ${path}`, text)) return { status: response.status, body: parsed(text) }
        last = `${response.status} ${text.slice(0, 200)}`
      } catch (error) {
        last = String(error instanceof Error && error.cause ? error.cause : error)
      }
    }
    throw new GaveUpError(`${method} ${path}: ${last}`)
  }

  return { attempt, isDefinite, call, patienceMs }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : { value }
  } catch {
    return { text }
  }
}
