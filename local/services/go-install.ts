import { parseOwnJson } from '../../domain/json.ts'
import { findOnPath, run, withTicks } from './command.ts'
import type { Log } from './ways.ts'

/**
 * A program of a module of the Go module proxy. `sum` is that of the module, as in a go.sum. `modfile` takes the place of
 * its go.mod, and the go.sum beside it that of its go.sum. `variables` are what its own build scripts set, such as the
 * version that it prints.
 */
export type GoProgram = {
  module: string
  version: string
  sum: string
  folder: string
  modfile?: string
  variables?: Record<string, string>
}

/**
 * Nobody debugs these programs, so that they need no symbols. The tag is the one with which Temporal builds its own: its
 * archives use no gRPC client of Google's storage, a tenth of all packages. Both together save a seventh of the processor
 * time of a build (362 to 311 s); fewer collections of the compiler's garbage, up to a gigabyte for each of the packages
 * that are compiled at once, save another twelfth (285 s).
 */
const flags = ['-tags=disable_grpc_modules', '-gcflags=all=-dwarf=false']
const linking = ['-s', '-w']

/** Only what the module's own go.sum names with a checksum is built, whatever the settings of this machine say. */
const pinned = ['-mod=readonly', '-buildvcs=false']

/**
 * Builds the program into `folder`. What Go has built before is taken from its cache. `log` gets how many of the
 * missing packages are built.
 */
export async function goInstall(program: GoProgram, folder: string, log: Log): Promise<void> {
  const name = nameOf(program)
  log(`fetching the sources of ${name}`)
  const options = {
    cwd: await goModule(program),
    env: { GOGC: '400', GOMEMLIMIT: '1GiB', ...process.env, GOWORK: 'off', GOBIN: folder },
  }
  const modfile = program.modfile === undefined ? [] : [`-modfile=${program.modfile}`]
  const variables = Object.entries(program.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`)
  const ldflags = `-ldflags=${[...linking, ...variables].join(' ')}`
  const install = ['install', ...pinned, ...modfile, ...flags, ldflags]
  const all = plannedPackages(await run('go', [...install, '-n', program.folder], options))
  log(`building ${name} with Go: ${all} packages (once; up to three minutes)`)
  let built = 0
  await withTicks(
    run('go', [...install, '-v', program.folder], { ...options, onOutput: (text) => (built += lines(text)) }),
    () => log(`built ${Math.min(built, all)} of ${all} packages of ${name}`),
  )
}

/**
 * The folder of the module's sources in Go's cache, whose checksum is compared with ours. Their go.sum has the
 * checksums of all modules that they need.
 */
export async function goModule({
  module,
  version,
  sum,
}: Pick<GoProgram, 'module' | 'version' | 'sum'>): Promise<string> {
  if (!(await findOnPath('go'))) throw new Error('no go on PATH')
  const printed = await run('go', ['mod', 'download', '-json', `${module}@v${version}`])
  const found: { Dir: string; Sum: string } = parseOwnJson(printed)
  if (found.Sum !== sum) throw new Error(`${module} ${version} has the checksum ${found.Sum} instead of ${sum}`)
  return found.Dir
}

const nameOf = ({ module, version, folder }: GoProgram) =>
  folder.startsWith('./') ? `${module}${folder.slice(1)} ${version}` : folder

/** How many packages will be built, by the commands that `go install -n` prints: each is compiled by one. */
export const plannedPackages = (commands: string) => commands.match(/\/compile -o /g)?.length ?? 0

/** `go install -v` prints a line for each package when its turn comes. */
const lines = (text: string) => text.split('\n').length - 1
