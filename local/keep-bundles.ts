import { utimes } from 'node:fs/promises'
import path from 'node:path'
import { root } from '../scripts/process-bundle.ts'

const everyMs = 24 * 3_600_000

/**
 * Bundles that were not in use for a week are removed (`scripts/build-processes.ts`). A process reads parts of its bundle
 * as it needs them, so those of running processes are marked as used once a day. The function that is
 * returned notes the script of a process, and returns it.
 */
export function keepBundles(): (script: string) => string {
  const folders = new Set<string>()
  const markUsed = async (folder: string) => {
    const now = new Date()
    // It may have been removed by hand.
    await utimes(folder, now, now).catch(() => undefined)
  }
  setInterval(() => Promise.all([...folders].map(markUsed)), everyMs).unref()
  return (script) => {
    // Outside of a bundle, the script is a source.
    if (script.endsWith('.mjs')) folders.add(path.resolve(root, path.dirname(script)))
    return script
  }
}
