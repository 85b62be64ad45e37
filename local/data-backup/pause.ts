import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { LocalServiceError } from '../services/ways.ts'
import { statesOf } from './process-groups.ts'

/** Lets the groups go on when our end of its input closes, also after a `kill -9`. Signals do not end it. */
const guard = 'trap "" TERM INT HUP; echo ready; read -r _; for group; do kill -CONT "-$group"; done'

const limitMs = 20_000

/**
 * Stops process groups with SIGSTOP, one after the other, and returns when no thread of them runs. If this process dies,
 * they go on. `resume` lets them go on. Their files are then what a `kill -9` of all of them at one moment would leave.
 * Clients of the servers come first, so that no server holds an effect whose cause is missing in another server.
 */
export async function pauseGroups(groups: number[]) {
  const child = spawn('/bin/sh', ['-c', guard, 'sh', ...groups.map(String)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const ended = once(child, 'exit')
  const resume = async () => {
    child.stdin.end()
    await ended
  }
  try {
    await once(child.stdout, 'data')
    for (const group of groups) await stopGroup(group)
  } catch (error) {
    await resume()
    throw error
  }
  return { resume }
}

async function stopGroup(group: number): Promise<void> {
  process.kill(-group, 'SIGSTOP')
  const deadline = Date.now() + limitMs
  while (!(await isStopped(group))) {
    if (Date.now() > deadline) throw new LocalServiceError(`Process ${group} could not be paused.`)
    await wait(5)
  }
}

/** Whether there is such a group and no thread of it runs. */
export async function isStopped(group: number): Promise<boolean> {
  const states = (await statesOf(group)).filter((state) => state !== 'Z' && state !== 'X')
  return states.length > 0 && states.every((state) => state === 'T' || state === 't')
}
