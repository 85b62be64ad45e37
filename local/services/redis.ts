import path from 'node:path'
import { waysByCache } from './cache.ts'
import { findOnPath, run, versionOf } from './command.ts'
import { libraryPathIn, unpackDebian } from './debian.ts'
import type { Watch } from './keep-running.ts'
import { exchange, freePort } from './ports.ts'
import { startServer } from './server-process.ts'
import { type Log, firstThatWorks } from './ways.ts'

const cacheName = 'redis-debian'

type RedisServer = { command: string; libraryPath?: string }

/** Finds or installs a Redis server. Redis publishes no binaries of its own, so there is no official download. */
export async function prepareRedis(log: Log) {
  return firstThatWorks<RedisServer>('Redis', 'REDIS_URL', [
    { name: 'PATH', attempt: onPath },
    ...waysByCache(cacheName, log, unpacked, [
      { name: 'Debian package, unpacked', install: (folder) => fromDebian(folder, log) },
    ]),
  ])
}

async function onPath(): Promise<RedisServer | undefined> {
  const command = await findOnPath('redis-server')
  if (!command) return undefined
  const found = await versionOf(command, ['--version'], /v=(\d+)\.(\d+)/)
  if (!found || found[0] < 7) throw new Error(`${command} is older than 7.0`)
  return { command }
}

async function fromDebian(folder: string, log: Log): Promise<void> {
  log('fetching redis-server from the Debian registry')
  await unpackDebian(folder, redisPackages)
}

/**
 * The server, its tools and libraries that a small system lacks. Their names contain version numbers, so the
 * registry is asked.
 */
async function redisPackages(): Promise<string[]> {
  const depends = await run('apt-cache', ['depends', 'redis-tools'])
  const libraries = [...depends.matchAll(/Depends: (lib(?:atomic|jemalloc|lzf|lua|systemd)\S*)/g)].map(
    (match) => match[1] ?? '',
  )
  if (libraries.length === 0) throw new Error('the Debian registry does not list redis-tools')
  return ['redis-server', 'redis-tools', ...libraries]
}

async function unpacked(folder: string): Promise<RedisServer> {
  return {
    command: path.join(folder, 'usr', 'bin', 'redis-server'),
    libraryPath: await libraryPathIn(folder),
  }
}

/** Starts Redis on its folder in `dataDir`, with the append-only file, because otherwise a kill loses everything. */
export async function startRedis(options: {
  server: RedisServer
  dataDir: string
  port?: number
  /** Further arguments of the server. */
  args?: string[]
  watch?: Watch
  startSignal?: AbortSignal
}) {
  const port = options.port ?? (await freePort())
  const home = path.join(options.dataDir, 'redis')
  const { command, libraryPath } = options.server
  const server = await startServer(
    {
      name: 'Redis',
      command,
      args: [
        ['--bind', '127.0.0.1', '--port', String(port), '--dir', home],
        ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
        options.args ?? [],
      ].flat(),
      env: libraryPath ? { ...process.env, LD_LIBRARY_PATH: libraryPath } : process.env,
      cwd: home,
      logFile: path.join(options.dataDir, 'logs', 'redis.log'),
      // While it loads its file it answers -LOADING; with a password, -NOAUTH.
      ready: async () => /^(\+PONG|-NOAUTH)/.test((await exchange(port, 'PING\r\n')) ?? ''),
    },
    options.watch,
    options.startSignal,
  )
  return { ...server, url: redisUrl(port) }
}

export const redisUrl = (port: number) => `redis://127.0.0.1:${port}`
