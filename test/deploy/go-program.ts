import path from 'node:path'
import { cached, installInCache } from '../../local/services/cache.ts'
import { run } from '../../local/services/command.ts'

/** A program of the Go module proxy, built once and kept in the cache folder. `name` names its version, too. */
export async function goProgram(name: string, module: string, program: string): Promise<string> {
  const folder =
    cached(name) ??
    (await installInCache(name, console.log, async (into) => {
      await run('go', ['install', module], { env: { ...process.env, GOBIN: into } })
    }))
  return path.join(folder, program)
}
