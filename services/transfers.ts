import { AppError } from '../domain/errors.ts'
import { type Release, createSemaphore } from './semaphore.ts'

/** One archive on its way from or to a client. */
export interface Transfer {
  /** Aborted with `request_timeout` when the client is too slow, and with `cancelled` when it has gone. */
  signal: AbortSignal
  /** From here on the service waits for the client. Only this time counts as the client's. */
  waits(): void
  /** The client has sent or taken these bytes; the service goes on. */
  moved(bytes: number): void
  /** Frees the slot. */
  end(): void
}

/** A transfer with what its client did in the current window. */
interface Active {
  stop: AbortController
  /** When the service began to wait for the client, or the window began if that was later. */
  waitingSince: number | undefined
  tookMs: number
  bytes: number
  /** Windows with hardly any progress, one after the other. */
  slowWindows: number
}

const windowMs = 10_000
const checkEveryMs = 1000
/** In a window, while others wait: 100 KB/s. */
const leastBytesWhenFull = 1_000_000
/** In a window, at any time: 1 KB/s. */
const leastBytes = 10_000
const slowWindowsAllowed = 6
/** Each packs or unpacks on one thread, so more would only slow each other down. */
const defaultSlots = 8
const waitingAtMost = 100
const waitAtMostMs = 60_000

/**
 * Slots for transfers that last as long as their client takes. Each owner has one. When all are taken, further owners
 * wait for their turn. A slow client loses its slot: after a minute with hardly any progress, and after ten seconds
 * with little progress when others wait. `name` is used in messages.
 */
export function createTransfers({ slots = defaultSlots, name }: { slots?: number | undefined; name: string }) {
  const queue = createSemaphore({ slots, waiting: waitingAtMost, waitingPerOwner: 1 })
  const owners = new Set<string>()
  const active = new Set<Active>()
  let waiting = 0
  let timer: NodeJS.Timeout | undefined

  return {
    /**
     * Throws `too_many_requests` for a second transfer of the owner, and if no slot becomes free within a minute.
     * `gone` is aborted when the client disconnects.
     */
    async open(owner: string, gone: AbortSignal): Promise<Transfer> {
      if (owners.has(owner)) throw tooMany(`An ${name} of this account is under way already. Wait for its end.`)
      owners.add(owner)
      try {
        return begin(owner, await turn(owner, gone), gone)
      } catch (error) {
        owners.delete(owner)
        throw error
      }
    },
  }

  async function turn(owner: string, gone: AbortSignal): Promise<Release> {
    const leave = new AbortController()
    const onGone = () => leave.abort()
    gone.addEventListener('abort', onGone, { once: true })
    const timer = setTimeout(() => leave.abort(), waitAtMostMs).unref()
    waiting += 1
    try {
      const release = await queue.acquire(owner, leave.signal)
      if (release !== undefined) return release
    } catch (error) {
      if (!leave.signal.aborted) throw error
      if (gone.aborted) throw hasGone()
    } finally {
      clearTimeout(timer)
      gone.removeEventListener('abort', onGone)
      waiting -= 1
    }
    throw tooMany(`Too many other ${name}s are under way. Try again later.`)
  }

  function begin(owner: string, release: Release, gone: AbortSignal): Transfer {
    const stop = new AbortController()
    const onGone = () => stop.abort(hasGone())
    gone.addEventListener('abort', onGone, { once: true })
    if (gone.aborted) onGone()
    const one: Active = { stop, waitingSince: undefined, tookMs: 0, bytes: 0, slowWindows: 0 }
    active.add(one)
    timer ??= setInterval(endSlow, checkEveryMs).unref()
    return {
      signal: stop.signal,
      waits() {
        one.waitingSince = performance.now()
      },
      moved(bytes) {
        one.bytes += bytes
        addWaiting(one)
        one.waitingSince = undefined
      },
      end() {
        if (!active.delete(one)) return
        gone.removeEventListener('abort', onGone)
        owners.delete(owner)
        release()
        if (active.size > 0) return
        clearInterval(timer)
        timer = undefined
      },
    }
  }

  /** Ends transfers without progress for a minute and, of slow ones, as many as others wait, the slowest first. */
  function endSlow(): void {
    const ended = [...active].filter(endsWindow).toSorted((one, other) => one.bytes - other.bytes)
    let wanted = waiting
    for (const one of ended) {
      one.slowWindows = one.bytes < leastBytes ? one.slowWindows + 1 : 0
      const isInTheWay = one.bytes < leastBytesWhenFull && wanted > 0
      if (isInTheWay) wanted -= 1
      if (isInTheWay || one.slowWindows >= slowWindowsAllowed) one.stop.abort(tooSlow())
      one.tookMs = 0
      one.bytes = 0
    }
  }

  /** Whether the client has had a whole window. */
  function endsWindow(one: Active): boolean {
    addWaiting(one)
    return one.tookMs >= windowMs
  }

  function tooSlow(): AppError {
    return new AppError('request_timeout', `The ${name} made too little progress and was ended. Try again.`)
  }
}

function hasGone(): AppError {
  return new AppError('cancelled', 'The client has disconnected.')
}

function addWaiting(one: Active): void {
  if (one.waitingSince === undefined) return
  const now = performance.now()
  one.tookMs += now - one.waitingSince
  one.waitingSince = now
}

function tooMany(message: string): AppError {
  return new AppError('too_many_requests', message, { retryAfterSeconds: 30 })
}
