// Before a change: README.md in this folder, and docs/traps.md, The embedded database.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { findOnPath, run, withTicks } from '../services/command.ts'
import type { Log } from '../services/ways.ts'

/** This folder is a Python program: it repairs SecantusDB's faults and starts it. */
const launcher = import.meta.dirname

/**
 * The versions of SecantusDB for which the repairs hold, in a file that the launcher reads, too: it starts no other
 * version. The last one is installed.
 */
export async function supportedVersions(): Promise<string[]> {
  const versions: unknown = JSON.parse(await readFile(path.join(launcher, 'versions.json'), 'utf8'))
  if (!Array.isArray(versions)) throw new Error('local/embedded-database/versions.json is not a list')
  return versions.map(String)
}

const versionToInstall = async () => String((await supportedVersions()).at(-1))

export const embeddedCacheName = async () => `secantusdb-${await versionToInstall()}`

/** `--standalone` switches off the oplog and the memory of retryable writes, whose cost grows with each write. */
export const embeddedArgs = ({ port, home }: { port: number; home: string }) =>
  [
    // Nothing is written into the project's folder.
    ['-B', launcher, '--standalone', '--host', '127.0.0.1', '--port', String(port), '--storage-path', home],
    ['--cache-size', '256M'],
  ].flat()

/** One arena of the allocator for all threads: with one each, the memory of large records is not given back. */
export const embeddedEnv = { MALLOC_ARENA_MAX: '2' }

/** The arguments with which the same Python prints the installed version. */
export const embeddedVersionArgs = ['-c', 'from importlib.metadata import version; print(version("SecantusDB"))']

export const embeddedInFolder = (folder: string) => path.join(folder, 'bin', 'python')

/** Where the checksums of that version and of what it needs are. */
export const requirementsOf = (version: string) => path.join(launcher, `requirements-${version}.txt`)

/** Only files with a checksum that is named there are taken; what pip would build needs others to be built. */
const pinned = (requirements: string) => [
  '--require-hashes',
  '--only-binary',
  ':all:',
  '--no-deps',
  '--requirement',
  requirements,
]

export async function installEmbedded(folder: string, log: Log): Promise<void> {
  const version = await versionToInstall()
  const python = (await findOnPath('python3')) ?? (await findOnPath('python'))
  if (!python) throw new Error('no python3 on PATH')
  log(`installing SecantusDB ${version} from PyPI`)
  await run(python, ['-m', 'venv', folder])
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...pinned(requirementsOf(version))]
  await withTicks(run(path.join(folder, 'bin', 'python'), pip), (seconds) =>
    log(`still installing SecantusDB (${seconds} s)`),
  )
}
