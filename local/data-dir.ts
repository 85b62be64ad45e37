import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { LocalServiceError } from './services/index.ts'

/**
 * Locks the data folder for this process, because two databases on one folder destroy it. A lock of a dead process
 * is ignored. Returns the function that unlocks the folder.
 */
export function takeDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true })
  const mark = path.join(dataDir, 'in-use-by')
  const holder = Number(readMark(mark))
  if (holder && holder !== process.pid && isRunning(holder)) {
    throw new LocalServiceError(
      `${dataDir} is in use by process ${holder} (npm start). Stop it, or set DATA_DIR and PORT to run a second service.`,
    )
  }
  writeFileSync(mark, String(process.pid))
  return () => rmSync(mark, { force: true })
}

function readMark(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
