import { LRUCache } from 'lru-cache'
import { within } from '../../services/within.ts'
import type { RedisConnection } from './connect.ts'

/** The count in the current window, and how many milliseconds the window has left. */
interface Count {
  current: number
  ttl: number
}

/**
 * Begins a window with the first hit, and counts within it. KEYS: the counter. ARGV: length of a window in
 * milliseconds, and how much is counted.
 */
const hitScript = `
local current = redis.call('INCRBY', KEYS[1], ARGV[2])
local ttl = redis.call('PTTL', KEYS[1])
if ttl < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  ttl = tonumber(ARGV[1])
end
return {current, ttl}
`
const readScript = `return {tonumber(redis.call('GET', KEYS[1]) or '0'), redis.call('PTTL', KEYS[1])}`

const maxLocalCounters = 10_000

/**
 * Counts per key and window in Redis, for all API processes together. While Redis does not answer, each process
 * counts for itself, so that requests pass and a limit still holds per process: a limit must not delay requests for
 * longer than `deadlineMs`.
 */
export function createRateCounter(redis: Pick<RedisConnection, 'at'>, prefix: string, deadlineMs: number) {
  const local = createLocalCounter()
  const ask = async (script: string, name: string, values: string[]): Promise<Count> => {
    const key = `${prefix}rate:${name}`
    const reply: unknown = await inTime(
      deadlineMs,
      redis.at(key, (client) => client.eval(script, { keys: [key], arguments: values })),
    )
    const numbers: unknown[] = Array.isArray(reply) ? Array.from<unknown>(reply) : []
    const [current, ttl] = numbers
    if (typeof current !== 'number' || typeof ttl !== 'number') throw new Error('unexpected reply to a count')
    return { current, ttl: Math.max(0, ttl) }
  }
  return {
    hit: (key: string, windowMs: number, by = 1): Promise<Count> =>
      ask(hitScript, key, [String(windowMs), String(by)]).catch(() => local.hit(key, windowMs, by)),
    read: (key: string): Promise<Count> => ask(readScript, key, []).catch(() => local.read(key)),
  }
}

function createLocalCounter() {
  const counters = new LRUCache<string, { current: number; endsAt: number }>({ max: maxLocalCounters })
  const open = (key: string) => {
    const counter = counters.get(key)
    return counter !== undefined && counter.endsAt > Date.now() ? counter : undefined
  }
  const show = ({ current, endsAt }: { current: number; endsAt: number }) => ({ current, ttl: endsAt - Date.now() })
  return {
    hit(key: string, windowMs: number, by: number): Count {
      const counter = open(key) ?? { current: 0, endsAt: Date.now() + windowMs }
      counter.current += by
      counters.set(key, counter)
      return show(counter)
    },
    read(key: string): Count {
      const counter = open(key)
      return counter === undefined ? { current: 0, ttl: 0 } : show(counter)
    },
  }
}

async function inTime<T>(deadlineMs: number, reply: Promise<T>): Promise<T> {
  const answered = await within(
    deadlineMs,
    reply.then((value) => ({ value })),
  )
  if (answered === undefined) throw new Error('no answer in time')
  return answered.value
}
