import path from 'node:path'
import { cached, installInCache } from '../../local/services/cache.ts'
import { type GoProgram, goInstall } from '../../local/services/go-install.ts'

/** A program of the Go module proxy, built once and kept in the cache folder. */
export async function goProgram(name: string, program: GoProgram): Promise<string> {
  const kept = `${name}-${program.version}`
  const folder =
    cached(kept) ?? (await installInCache(kept, console.log, (into) => goInstall(program, into, console.log)))
  return path.join(folder, path.basename(program.folder))
}
