import { LRUCache } from 'lru-cache'
import { AppError } from '../domain/errors.ts'
import { within } from './within.ts'

interface Probe {
  name: string
  /** Resolves if the dependency answers. Undefined, or returns undefined, if none is configured. */
  check?: (() => Promise<string | void> | undefined) | undefined
  /** Whether every request needs it. */
  isNeeded?: boolean
}

export type Health = ReturnType<typeof createHealth>

type DependencyState = { status: 'ok' | 'down' | 'not_configured'; detail?: string }

const timeoutMs = 2000
/** How long an answer of the dependencies is cached: load balancers ask often, and anybody may ask. */
const cachedMs = 500
/** For this time longer, the cached answer is returned while the dependencies are asked again. */
const staleMs = 1500

/**
 * Checks dependencies in parallel, each within two seconds. The error of a probe is not shown, because it may name
 * addresses, unless it is an `AppError` of the service.
 */
export function createHealth(probes: Probe[], version: string) {
  const statesOf = (some: Probe[]) =>
    Promise.all(some.map(async (probe) => ({ name: probe.name, ...(await stateOf(probe)) })))

  const probeUnavailable = async () => {
    const states = await statesOf(probes.filter(({ isNeeded }) => isNeeded))
    return states.filter(({ status }) => status === 'down').map(({ name }) => name)
  }
  const probeAll = async () => {
    const states = await statesOf(probes)
    const dependencies = Object.fromEntries(states.map(({ name, ...state }) => [name, state]))
    const down = states.some(({ status }) => status === 'down')
    return { status: down ? ('degraded' as const) : ('ok' as const), version, dependencies }
  }

  return {
    report: cached(probeAll),
    /** The dependencies that requests need and that do not answer. */
    unavailableServices: cached(probeUnavailable),
  }
}

/** An answer that is only a little too old is returned at once, while it is asked for anew. */
function cached<Answer extends object>(ask: () => Promise<Answer>): () => Promise<Answer> {
  const answers = new LRUCache<'latest', Answer>({ max: 1, ttl: cachedMs, allowStale: true, fetchMethod: ask })
  return () => {
    if (answers.getRemainingTTL('latest') < -staleMs) answers.delete('latest')
    return answers.forceFetch('latest')
  }
}

async function stateOf(probe: Probe): Promise<DependencyState> {
  try {
    const check = probe.check?.()
    if (check === undefined) return { status: 'not_configured' }
    const answer = check.then((detail) => ({ detail }))
    const found = await within(timeoutMs, answer)
    if (found === undefined) return { status: 'down' }
    return { status: 'ok', ...(found.detail === undefined ? {} : { detail: found.detail }) }
  } catch (error) {
    return error instanceof AppError ? { status: 'down', detail: error.message } : { status: 'down' }
  }
}
