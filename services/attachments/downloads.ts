import { Readable } from 'node:stream'
import { AppError, invalidInput } from '../../domain/errors.ts'
import type { Fetch, Outbound } from '../outbound.ts'
import { createSemaphore } from '../semaphore.ts'

type Loc = (string | number)[]

/** Reads what is at an address. Throws `invalid_input` at `loc` if it cannot be read. */
export type Download = (url: string, options: { maxBytes: number; loc: Loc; accept?: string }) => Promise<Buffer>

/**
 * Downloads for requests that name images and files by address. What a request has read is held in memory until its
 * messages are complete, so a request keeps its slot until then, not only while it reads.
 */
export interface Downloads {
  /**
   * Throws what `work` throws; `too_many_requests` if too many requests of the owner wait already, and `unavailable` if
   * no slot becomes free in time. Requests that download nothing need no slot.
   */
  within<T>(owner: string, work: (download: Download) => Promise<T>): Promise<T>
}

export const downloadLimits = {
  slots: 64,
  slotsPerOwner: 4,
  waiting: 1000,
  waitingPerOwner: 64,
  waitAtMostMs: 60_000,
  /** A request begins only while this much is free; one that has begun goes on, so that no two wait for each other. */
  bytesAtOnce: 128 * 1024 * 1024,
  /** All downloads of one request. */
  requestMs: 60_000,
  oneMs: 20_000,
  /** In each window: 16 KB/s. */
  windowMs: 5000,
  leastBytes: 80_000,
} as const

export function createDownloads(outbound: Pick<Outbound, 'fetchWith'>): Downloads {
  const slots = createSemaphore(downloadLimits)
  const memory = createMemory(downloadLimits.bytesAtOnce)

  return {
    async within(owner, work) {
      const request = begin(owner)
      try {
        return await work(request.download)
      } finally {
        request.end()
      }
    },
  }

  function begin(owner: string) {
    let reserved = 0
    let admitted: Promise<AbortSignal> | undefined
    let release = () => {}

    /** Holds more bytes, or less. */
    function reserve(change: number): void {
      memory.add(change)
      reserved += change
    }

    /** Holds the bytes of the first download. Answers with the time limit of the request. */
    async function admit(bytes: number): Promise<AbortSignal> {
      const signal = AbortSignal.timeout(downloadLimits.waitAtMostMs)
      try {
        const slot = await slots.acquire(owner, signal)
        if (slot === undefined) throw tooMany('too_many_requests')
        release = slot
        await memory.take(bytes, signal)
        reserved += bytes
      } catch (error) {
        throw signal.aborted ? tooMany('unavailable') : error
      }
      return AbortSignal.timeout(downloadLimits.requestMs)
    }

    const download: Download = async (url, { maxBytes, loc, accept = '*/*' }) => {
      checkAddress(url, loc)
      if (admitted !== undefined) reserve(maxBytes)
      let storedBytes = 0
      const requestLimit = await (admitted ??= admit(maxBytes))
      try {
        const signal = AbortSignal.any([requestLimit, AbortSignal.timeout(downloadLimits.oneMs)])
        const bytes = await readAll(outbound.fetchWith({ maxRedirects: 3, maxBytes }), url, {
          signal,
          headers: { accept },
        })
        storedBytes = bytes.length
        return bytes
      } catch (error) {
        if (error instanceof AnsweredError) throw invalidInput(loc, error.message, 'unreachable')
        // What failed inside says something about networks that the caller cannot see.
        throw invalidInput(loc, reasonOf(error), 'unreachable')
      } finally {
        reserve(storedBytes - maxBytes)
      }
    }

    return {
      download,
      end() {
        reserve(-reserved)
        release()
      },
    }
  }
}

/** The bytes that are held or may be held next; who finds no room waits in the order of arrival. */
function createMemory(most: number) {
  let free = most
  const waiting = new Map<() => void, number>()

  function admitNext(): void {
    for (const [enter, bytes] of waiting) {
      if (bytes > free) return
      waiting.delete(enter)
      free -= bytes
      enter()
    }
  }

  return {
    /** Takes bytes when they are free; throws the signal's reason if it aborts first. */
    async take(bytes: number, signal: AbortSignal): Promise<void> {
      if (waiting.size === 0 && bytes <= free) {
        free -= bytes
        return
      }
      await new Promise<void>((resolve, reject) => {
        const abort = () => {
          waiting.delete(enter)
          admitNext()
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
        }
        const enter = () => {
          signal.removeEventListener('abort', abort)
          resolve()
        }
        waiting.set(enter, bytes)
        signal.addEventListener('abort', abort, { once: true })
      })
    },

    /** Takes bytes without waiting; a negative number gives them back. */
    add(bytes: number): void {
      free -= bytes
      if (bytes < 0) admitNext()
    },
  }
}

class AnsweredError extends Error {}

async function readAll(
  fetch: Fetch,
  url: string,
  { signal, headers }: { signal: AbortSignal; headers: Record<string, string> },
): Promise<Buffer> {
  const slow = new AbortController()
  const response = await fetch(url, { signal: AbortSignal.any([signal, slow.signal]), headers })
  if (!response.ok) {
    await response.body?.cancel()
    throw new AnsweredError(`could not be read: its server answered ${response.status}`)
  }
  let arrived = 0
  let before = 0
  let due = performance.now() + downloadLimits.windowMs
  const timer = setInterval(() => {
    // After a pause of this process, what the server sent meanwhile has not been read yet.
    const isLate = performance.now() - due > 1000
    if (!isLate && arrived - before < downloadLimits.leastBytes) slow.abort(new SlowError())
    before = arrived
    due = performance.now() + downloadLimits.windowMs
  }, downloadLimits.windowMs)
  try {
    const chunks: Uint8Array[] = []
    const body: AsyncIterable<Uint8Array> = response.body ?? Readable.from([])
    for await (const chunk of body) {
      arrived += chunk.byteLength
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, arrived)
  } finally {
    clearInterval(timer)
  }
}

class SlowError extends Error {}

function checkAddress(url: string, loc: Loc): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalidInput(loc, 'must be an http or https address, or a data URL')
  const { username, password } = new URL(url)
  if (username !== '' || password !== '') throw invalidInput(loc, 'must not hold a user name or a password')
}

function reasonOf(error: unknown): string {
  if (error instanceof SlowError) return 'could not be read: its server sends too slowly'
  if (error instanceof Error && error.name === 'TimeoutError') return 'could not be read in time'
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof AppError) return `could not be read: ${at.message}`
  return 'could not be read'
}

function tooMany(code: 'too_many_requests' | 'unavailable'): AppError {
  return new AppError(code, 'Too many images and files are read from their addresses at once; try again soon.', {
    retryAfterSeconds: 10,
  })
}
