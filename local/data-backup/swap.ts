import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { syncFolder } from './files.ts'

/** Beside the data folder: a restore that is not complete yet, and one that only needs its name. */
export const restoringFolder = (dataDir: string) => `${dataDir}.restoring`
const restoredFolder = (dataDir: string) => `${dataDir}.restored`

/**
 * Puts the complete folder of a restore in the place of the data folder, and returns where the old one is now;
 * undefined if it held no data. Whenever this is killed, `finishSwap` completes it.
 */
export async function swap(dataDir: string): Promise<string | undefined> {
  const restored = restoredFolder(dataDir)
  rmSync(restored, { recursive: true, force: true })
  renameSync(restoringFolder(dataDir), restored)
  const before = `${dataDir}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  renameSync(dataDir, before)
  finishSwap(dataDir)
  await syncFolder(path.dirname(dataDir))
  const isEmpty = readdirSync(before).every((name) => name === 'in-use-by' || name === 'logs')
  rmSync(isEmpty ? before : path.join(before, 'in-use-by'), { recursive: true, force: true })
  return isEmpty ? undefined : before
}

/** Ends what a killed restore began. Called before anything creates the data folder. */
export function finishSwap(dataDir: string): void {
  const restored = restoredFolder(dataDir)
  if (existsSync(dataDir) || !existsSync(restored)) return
  try {
    renameSync(restored, dataDir)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(dataDir)) throw error
  }
}
