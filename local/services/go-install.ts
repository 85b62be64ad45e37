import { findOnPath, run, withTicks } from './command.ts'
import type { Log } from './ways.ts'

/**
 * Nobody debugs these programs, so that they need no symbols. The tag is the one with which Temporal builds its own: its
 * archives use no gRPC client of Google's storage, a tenth of all packages. Both together save a seventh of the processor
 * time of a build (362 to 311 s); fewer collections of the compiler's garbage, up to a gigabyte for each of the packages
 * that are compiled at once, save another twelfth (285 s).
 */
const flags = ['-tags=disable_grpc_modules', '-gcflags=all=-dwarf=false', '-ldflags=-s -w']

/**
 * Builds a program of the Go module proxy, given as `package@version`, into `folder`. What Go has built before is taken
 * from its cache. `log` gets how many of the missing packages are built.
 */
export async function goInstall(program: string, folder: string, log: Log): Promise<void> {
  if (!(await findOnPath('go'))) throw new Error('no go on PATH')
  const env = { GOGC: '400', GOMEMLIMIT: '1GiB', ...process.env, GOBIN: folder }
  log(`fetching the sources of ${program}`)
  const all = plannedPackages(await run('go', ['install', '-n', ...flags, program], { env }))
  log(`building ${program} with Go: ${all} packages (once; up to three minutes)`)
  let built = 0
  await withTicks(
    run('go', ['install', '-v', ...flags, program], { env, onOutput: (text) => (built += lines(text)) }),
    () => log(`built ${Math.min(built, all)} of ${all} packages of ${program}`),
  )
}

/** How many packages will be built, by the commands that `go install -n` prints: each is compiled by one. */
export const plannedPackages = (commands: string) => commands.match(/\/compile -o /g)?.length ?? 0

/** `go install -v` prints a line for each package when its turn comes. */
const lines = (text: string) => text.split('\n').length - 1
