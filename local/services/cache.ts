import { existsSync, mkdirSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Log, Way } from './ways.ts'

/**
 * The folder for downloads and builds. It is outside the repository, so that a second clone does not build Temporal
 * again; `ASSISTANT_CACHE_DIR` moves it. If the home folder is not writable, it is `.cache` here.
 */
export function cacheDir(env: NodeJS.ProcessEnv = process.env): string {
  if (env.ASSISTANT_CACHE_DIR) return path.resolve(env.ASSISTANT_CACHE_DIR)
  const folder = path.join(env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'assistant-platform')
  try {
    mkdirSync(folder, { recursive: true })
    return folder
  } catch {
    return path.join(import.meta.dirname, '..', '..', '.cache')
  }
}

/** This file is written last, marks a complete installation, and says how it came. */
const completeMark = '.complete'

/** The cached folder with that name if its installation was completed, else undefined. */
export function cached(name: string): string | undefined {
  const folder = path.join(cacheDir(), name)
  return existsSync(path.join(folder, completeMark)) ? folder : undefined
}

/** One way to fill a cached folder: `install` gets the empty folder. */
export type Installation = { name: string; install: (folder: string) => Promise<void> }

/**
 * Ways to get what is in the cached folder `name`: as it is there, else by each of these installations. However many
 * processes look for it at once, each says how it really came: by which installation, if perhaps in an earlier start.
 */
export function waysByCache<T>(
  name: string,
  log: Log,
  found: (folder: string) => T | Promise<T>,
  installations: readonly Installation[],
): Way<T>[] {
  const inCache: Way<T> = {
    name: 'cache',
    attempt: async () => {
      const folder = cached(name)
      return folder === undefined ? undefined : found(folder)
    },
    source: async () => {
      const installation = await installationOf(name)
      return installation === '' ? 'cache' : `${installation}, kept in the cache`
    },
  }
  const installing = installations.map((installation): Way<T> => ({
    name: installation.name,
    attempt: async () => found(await installInCache(name, log, installation.install, installation.name)),
    source: () => installationOf(name),
  }))
  return [inCache, ...installing]
}

const installationOf = (name: string) => readFile(path.join(cacheDir(), name, completeMark), 'utf8')

/**
 * Fills the cached folder `name` with `install`, which gets the empty folder, and returns its path. Two processes
 * that need the same folder take turns, and the second finds what the first installed.
 */
export async function installInCache(
  name: string,
  log: Log,
  install: (folder: string) => Promise<void>,
  installation = '',
): Promise<string> {
  const folder = path.join(cacheDir(), name)
  await mkdir(cacheDir(), { recursive: true })
  const unlock = await lock(`${folder}.lock`, () => log(`waiting for another process that installs ${name}`))
  try {
    if (cached(name)) return folder
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await install(folder)
    await writeFile(path.join(folder, completeMark), installation)
    return folder
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  } finally {
    await unlock()
  }
}

/** A lock made of a folder (mkdir is atomic). The lock of a dead process is taken over. */
async function lock(lockDir: string, onWait: () => void): Promise<() => Promise<void>> {
  for (let attempt = 0; ; attempt++) {
    try {
      await mkdir(lockDir)
      await writeFile(path.join(lockDir, 'pid'), String(process.pid))
      return () => rm(lockDir, { recursive: true, force: true })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    if (attempt === 0) onWait()
    await pause(500)
    if (await holderIsGone(lockDir)) {
      // Renamed first: of two processes that see the dead holder, only one succeeds.
      const grave = `${lockDir}.${process.pid}`
      await rename(lockDir, grave).then(
        () => rm(grave, { recursive: true, force: true }),
        () => undefined,
      )
    }
  }
}

async function holderIsGone(lockDir: string): Promise<boolean> {
  const pid = Number(await readFile(path.join(lockDir, 'pid'), 'utf8').catch(() => ''))
  if (!pid) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}
