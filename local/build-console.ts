import path from 'node:path'
import { run } from './services/command.ts'

const root = path.dirname(import.meta.dirname)

/**
 * Builds the console if its sources have changed, in a separate process, which gives its memory back. The service
 * works without the console, so a failure is only reported.
 */
export async function buildConsole(say: (line: string) => void): Promise<void> {
  try {
    const printed = await run(process.execPath, [path.join(root, 'web/build.ts')], { cwd: root, timeoutMs: 180_000 })
    if (printed.trim() !== '') say(`> ${printed.trim()}`)
  } catch (error) {
    say(`> The console could not be built: ${error instanceof Error ? error.message : String(error)}`)
  }
}
