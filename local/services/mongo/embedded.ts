// Before a change: docs/traps.md, The embedded database.
import path from 'node:path'
import { cached, installInCache } from '../cache.ts'
import { findOnPath, run, withTicks } from '../command.ts'
import type { Log } from '../ways.ts'

/** A MongoDB server over the WiredTiger engine, from the Python package registry; for developers and tests. */
const version = '0.7.0b3'
const cacheName = `secantusdb-${version}`

/** Our launcher, which repairs the server's faults before it starts it. */
const launcher = path.join(import.meta.dirname, 'launcher')

export const embeddedInCache = () => inFolder(cached(cacheName))

export const embeddedFromPyPi = async (log: Log) =>
  inFolder(await installInCache(cacheName, log, (folder) => install(folder, log)))

/** `--standalone` switches off the oplog and the memory of retryable writes, whose cost grows with each write. */
export const embeddedArgs = ({ port, home }: { port: number; home: string }) =>
  [
    // Nothing is written into the project's folder.
    ['-B', launcher, '--standalone', '--host', '127.0.0.1', '--port', String(port), '--storage-path', home],
    ['--cache-size', '256M'],
  ].flat()

/** One arena of the allocator for all threads: with one each, the memory of large records is not given back. */
export const embeddedEnv = { MALLOC_ARENA_MAX: '2' }

const inFolder = (folder: string | undefined) => folder && path.join(folder, 'bin', 'python')

async function install(folder: string, log: Log): Promise<void> {
  const python = (await findOnPath('python3')) ?? (await findOnPath('python'))
  if (!python) throw new Error('no python3 on PATH')
  log(`installing SecantusDB ${version} from PyPI`)
  await run(python, ['-m', 'venv', folder])
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `SecantusDB==${version}`]
  await withTicks(run(path.join(folder, 'bin', 'python'), pip), (seconds) =>
    log(`still installing SecantusDB (${seconds} s)`),
  )
}
