import { existsSync } from 'node:fs'
import path from 'node:path'
import { currentBundle, root } from '../scripts/process-bundle.ts'
import { run } from './services/command.ts'

/**
 * Builds the bundle for later starts if there is none for these sources, in a separate process, which gives its memory
 * back. The processes also run without it, only slower, so a failure is only reported.
 */
export async function buildProcesses(say: (line: string) => void): Promise<void> {
  try {
    if (existsSync(currentBundle())) return
    const script = path.join(root, 'scripts/build-processes.ts')
    const printed = await run(process.execPath, [script], { cwd: root, timeoutMs: 180_000 })
    if (printed.trim() !== '') say(`> ${printed.trim()}`)
  } catch (error) {
    say(`> API and worker could not be bundled: ${error instanceof Error ? error.message : String(error)}`)
  }
}
