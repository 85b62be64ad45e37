import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { LocalServiceError } from './services/index.ts'

type Lock = 'in-use-by' | 'backed-up-by'

/**
 * Locks the data folder for this process, because two databases on one folder destroy it. A lock of a dead process
 * is ignored. `backed-up-by` lets the folder be used and only excludes another backup. Returns the function that unlocks
 * the folder.
 */
export function takeDataDir(dataDir: string, lock: Lock = 'in-use-by'): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const holder = holderOf(dataDir, lock)
  if (holder !== undefined) {
    throw new LocalServiceError(
      `${dataDir} is in use by process ${holder} (npm start, a backup or a restore). Stop it, or set DATA_DIR and PORT to run a second service.`,
    )
  }
  const mark = path.join(dataDir, lock)
  writeFileSync(mark, String(process.pid))
  return () => rmSync(mark, { force: true })
}

/** The living process other than this one that has locked the folder; undefined if there is none. */
export function holderOf(dataDir: string, lock: Lock = 'in-use-by'): number | undefined {
  const holder = Number(readMark(path.join(dataDir, lock)))
  return holder && holder !== process.pid && isRunning(holder) ? holder : undefined
}

function readMark(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
