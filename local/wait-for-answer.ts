import { setTimeout as pause } from 'node:timers/promises'
import { httpAnswer } from './services/http-answer.ts'
import { LocalServiceError } from './services/index.ts'
import { freePort, isPortFree } from './services/ports.ts'
import type { Supervised } from './supervise.ts'

const limitMs = 90_000

/** The port of the API: the one that is set, which must be free, or a free one for 0. */
export async function requireFreePort({ port, host }: { port: number; host: string }): Promise<number> {
  if (port === 0) return freePort()
  if (await isPortFree(port, host)) return port
  throw new LocalServiceError(`Port ${port} is in use. Stop what listens there, or set PORT to another one.`)
}

/**
 * Waits until the address answers 200. Throws if one of the processes exits before: at a start that means a wrong
 * setting or a missing server, and a restart would not help.
 */
export async function waitForAnswer(url: string, children: Supervised[]): Promise<void> {
  const deadline = Date.now() + limitMs
  const ends = children.map(async (child) => `The ${child.name} ended at its start (${await child.firstEnd})`)
  const firstEnd = Promise.race(ends)
  while (Date.now() < deadline) {
    if ((await httpAnswer(url, 3_000)) !== undefined) return
    const end = await Promise.race([firstEnd, pause(30)])
    if (end) throw new LocalServiceError(`${end}. Its output is above and in its log.`)
  }
  throw new LocalServiceError(`${url} did not answer within ${limitMs / 1000} s.`)
}
