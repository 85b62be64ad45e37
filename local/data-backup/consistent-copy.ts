import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseOwnJson } from '../../domain/json.ts'
import { holderOf, isRunning, takeDataDir } from '../data-dir.ts'
import { type Log, LocalServiceError } from '../services/ways.ts'
import { type Tree, copyTree } from './files.ts'
import { isStopped, pauseGroups } from './pause.ts'

/** What belongs to a running service, not to its data. */
export const notData = ['in-use-by', 'backed-up-by', 'addresses.json', 'addresses.json.new', 'logs']

type Copied = { tree: Tree; copiedAt: Date; pausedMs: number | null }

/** Longer than the guards of a killed service need to end its servers (`diesWithUs`). */
const guardsMs = 15_000
const attempts = 3

/** Copies the data folder as it is at one moment. A running service is paused meanwhile, another one cannot start. */
export async function consistentCopy(dataDir: string, to: string, log: Log): Promise<Copied> {
  const unmark = takeDataDir(dataDir, 'backed-up-by')
  try {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const copied =
        holderOf(dataDir) === undefined ? await copyStopped(dataDir, to) : await copyRunning(dataDir, to, log)
      if (copied) return copied
      await rm(to, { recursive: true, force: true })
      log('A process of the service ended during the copy; the copy begins again')
    }
    throw new LocalServiceError('Processes of the service ended during each attempt. Try again when it is steady.')
  } finally {
    unmark()
  }
}

async function copyStopped(dataDir: string, to: string): Promise<Copied> {
  const wasKilled = existsSync(path.join(dataDir, 'in-use-by'))
  const unlock = takeDataDir(dataDir)
  try {
    if (wasKilled) await guardsDone(dataDir)
    const copiedAt = new Date()
    return { tree: await copyTree(dataDir, to, notData), copiedAt, pausedMs: null }
  } finally {
    unlock()
  }
}

/** Servers of a killed service end within seconds. A number that is in use for longer belongs to another program. */
async function guardsDone(dataDir: string): Promise<void> {
  const pids = Object.values(processesOf(dataDir) ?? {})
  const deadline = Date.now() + guardsMs
  while (pids.some((pid) => isRunning(pid)) && Date.now() < deadline) await wait(50)
}

/** Returns undefined if the service did not stand still until the end. */
async function copyRunning(dataDir: string, to: string, log: Log): Promise<Copied | undefined> {
  const holder = holderOf(dataDir)
  const processes = processesOf(dataDir)
  if (!processes) {
    throw new LocalServiceError(
      `npm start (process ${holder}) is starting or stopping, or another backup or a restore is at work. Try again in a moment.`,
    )
  }
  const { api, worker, ...servers } = processes
  // Those that write to several stores come first.
  const groups = [api, worker, ...Object.values(servers)].filter((pid) => pid !== undefined)
  const copiedAt = new Date()
  log('The service is paused')
  const paused = await pauseGroups(groups).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return undefined
    throw error
  })
  if (!paused) return undefined
  try {
    const tree = await copyTree(dataDir, to, notData)
    const isSame = holderOf(dataDir) === holder && JSON.stringify(processesOf(dataDir)) === JSON.stringify(processes)
    for (const group of isSame ? groups : []) if (!(await isStopped(group))) return undefined
    return isSame ? { tree, copiedAt, pausedMs: Date.now() - copiedAt.getTime() } : undefined
  } finally {
    await paused.resume()
    log(`The service goes on after ${((Date.now() - copiedAt.getTime()) / 1000).toFixed(1)} s`)
  }
}

/** The processes of `npm start` by name, each the first of a group; undefined while it starts or stops. */
function processesOf(dataDir: string): Record<string, number> | undefined {
  try {
    const text = readFileSync(path.join(dataDir, 'addresses.json'), 'utf8')
    return parseOwnJson<{ processes: Record<string, number> }>(text).processes
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
