import { within } from './within.ts'

export interface Probe {
  name: string
  /** Resolves when the dependency answers; undefined for one that the settings do not name. */
  check?: (() => Promise<string | void>) | undefined
}

export type Health = ReturnType<typeof createHealth>

type DependencyState = { status: 'ok' | 'down' | 'not_configured'; detail?: string }

const timeoutMs = 2000

/** Asks every dependency at once, each within two seconds. What a probe's error says stays inside: it may name addresses. */
export function createHealth(probes: Probe[], version: string) {
  return {
    async report() {
      const states = await Promise.all(probes.map(async (probe) => [probe.name, await stateOf(probe)] as const))
      const dependencies = Object.fromEntries(states)
      const down = states.some(([, state]) => state.status === 'down')
      return { status: down ? ('degraded' as const) : ('ok' as const), version, dependencies }
    },
  }
}

async function stateOf(probe: Probe): Promise<DependencyState> {
  if (probe.check === undefined) return { status: 'not_configured' }
  try {
    const answer = probe.check().then((detail) => ({ detail }))
    const found = await within(timeoutMs, answer)
    if (found === undefined) return { status: 'down' }
    return { status: 'ok', ...(found.detail === undefined ? {} : { detail: found.detail }) }
  } catch {
    return { status: 'down' }
  }
}
