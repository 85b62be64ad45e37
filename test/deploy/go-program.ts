import path from 'node:path'
import { cached, installInCache } from '../../local/services/cache.ts'
import { goInstall } from '../../local/services/go-install.ts'
import { runProgram } from './run-program.ts'

/** A program of the Go module proxy, built once and kept in the cache folder. `name` names its version, too. */
export async function goProgram(name: string, module: string, program: string): Promise<string> {
  const folder =
    cached(name) ?? (await installInCache(name, console.log, (into) => goInstall(module, into, console.log)))
  return path.join(folder, program)
}

/** The folder of a module of the Go module proxy, given with its version; Go keeps it in its own cache. */
export async function goModule(module: string): Promise<string> {
  const told: unknown = JSON.parse(await runProgram('go', ['mod', 'download', '-json', module]))
  if (typeof told === 'object' && told !== null && 'Dir' in told && typeof told.Dir === 'string') return told.Dir
  throw new Error(`go mod download named no folder for ${module}`)
}
