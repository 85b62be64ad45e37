import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startChild } from '../local/child-process.ts'
import { startLocalServices } from '../local/services/index.ts'
import { freePort } from '../local/services/ports.ts'
import { steadyMemory } from '../local/steady-memory.ts'
import { supervise } from '../local/supervise.ts'
import { type TcpProxy, startProxyOf, startTcpProxy } from '../test/support/tcp-proxy.ts'

const root = path.dirname(import.meta.dirname)

/** Generous: the first start compiles the code, on machines that may be busy. */
const readyLimitMs = 300_000

export const processNames = ['api 1', 'api 2', 'worker 1', 'worker 2'] as const
export type ProcessName = (typeof processNames)[number]
export const serverNames = ['MongoDB', 'Redis', 'Temporal'] as const
export type ServerName = (typeof serverNames)[number]

/** A process or server of the service, which is restarted whenever it ends. */
interface Life {
  pid: number
  isReady: boolean
  /** The process ids that the harness has killed. */
  killed: Set<number>
}

export type WholeService = Awaited<ReturnType<typeof startWholeService>>

/**
 * The service as it runs on one machine: the servers of `npm start`, two API processes that execute steps, and two
 * workers. Every process reaches every server through a proxy of its own, and clients reach the API through
 * proxies, too.
 */
export async function startWholeService({
  dataDir,
  env: given,
  say,
}: {
  dataDir: string
  env: Record<string, string>
  say: (line: string) => void
}) {
  const lives = new Map<string, Life>()
  /** Processes that ended by themselves after they had been ready. */
  const crashes: string[] = []
  /** Lines of level error and above, by their message. */
  const errors = new Map<string, number>()
  const lifeOf = (name: string) => {
    const life = lives.get(name) ?? { pid: 0, isReady: false, killed: new Set<number>() }
    lives.set(name, life)
    return life
  }
  let isStopping = false
  const watch = {
    say: (line: string) => say(`> ${line}`),
    onStart: (name: string, pid: number | undefined) => {
      const life = lifeOf(name.replace(/^The /, ''))
      if (life.isReady && !life.killed.has(life.pid) && !isStopping) {
        crashes.push(name)
        say(`! ${name} ended by itself`)
      }
      life.pid = pid ?? 0
      // A server is reported when it answers; a process of the service reports that it is ready.
      life.isReady = serverNames.some((server) => server === name)
    },
  }

  const local = await startLocalServices({ dataDir, env: {}, log: say, watch, need: ['temporal', 'mongo', 'redis'] })
  const addresses: Record<ServerName, string> = {
    MongoDB: local.env['MONGODB_URI'] ?? '',
    Redis: local.env['REDIS_URL'] ?? '',
    Temporal: local.env['TEMPORAL_ADDRESS'] ?? '',
  }
  const variables: Record<ServerName, string> = {
    MongoDB: 'MONGODB_URI',
    Redis: 'REDIS_URL',
    Temporal: 'TEMPORAL_ADDRESS',
  }
  const secrets = {
    SECRETS_KEY: randomBytes(32).toString('base64'),
    JWT_SECRET: randomBytes(32).toString('hex'),
    ADMIN_TOKEN: randomBytes(24).toString('hex'),
  }

  const shared = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_COMPILE_CACHE: path.join(dataDir, 'compiled'),
    ...steadyMemory,
    ...secrets,
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    THREAD_MAX_DEFAULT: '1000000',
    SHUTDOWN_GRACE_SECONDS: '2',
    LOG_LEVEL: 'info',
    ...given,
  }
  const migration = startChild({
    name: 'migrations',
    script: path.join(root, 'scripts/migrate.ts'),
    env: { ...shared, ...local.env },
    logFile: path.join(dataDir, 'logs', 'migrations.log'),
    onLine: () => {},
  })
  const migrated = await migration.exited
  if (migrated !== 'exit code 0') throw new Error(`the migrations failed (${migrated}); their log is in ${dataDir}`)

  const proxies = new Map<string, TcpProxy>()
  const running: ReturnType<typeof supervise>[] = []
  const clientUrls: string[] = []
  for (const name of processNames) {
    const env: Record<string, string> = {}
    for (const server of serverNames) {
      const proxy = await startProxyOf(addresses[server])
      proxies.set(`${name}/${server}`, proxy)
      env[variables[server]] = proxy.throughProxy
    }
    const isApi = name.startsWith('api')
    const port = isApi ? await freePort() : 0
    if (isApi) {
      const proxy = await startTcpProxy(`127.0.0.1:${port}`)
      proxies.set(`clients/${name}`, proxy)
      clientUrls.push(`http://${proxy.address}`)
    }
    running.push(
      supervise(
        {
          name,
          script: path.join(root, isApi ? 'api/server.ts' : 'worker/main.ts'),
          env: { ...shared, ...env, PORT: String(port), RUNS_IN_API: String(isApi) },
          logFile: path.join(dataDir, 'logs', `${name.replace(' ', '-')}.log`),
          onLine: (line) => noteLine(name, line),
        },
        watch,
      ),
    )
  }

  function noteLine(name: ProcessName, line: string): void {
    const level = Number(/"level":(\d+)/.exec(line)?.[1] ?? 0)
    const message = /"msg":"([^"]*)"/.exec(line)?.[1] ?? ''
    if (message === 'listening' || message === 'worker ready') lifeOf(name).isReady = true
    if (level >= 50) errors.set(message, (errors.get(message) ?? 0) + 1)
  }

  const service = {
    addresses,
    secrets,
    clientUrls,
    crashes,
    errors,
    /** The proxies between these processes and this server. */
    between: (names: readonly string[], server: ServerName): TcpProxy[] =>
      names.flatMap((name) => proxies.get(`${name}/${server}`) ?? []),
    toClients: (): TcpProxy[] => processNames.flatMap((name) => proxies.get(`clients/${name}`) ?? []),
    pidOf: (name: string) => lifeOf(name).pid,
    isReady: (name: string) => lifeOf(name).isReady,
    /** Waits until it has been started, or started again, and serves. */
    async untilReady(name: string): Promise<void> {
      const deadline = Date.now() + readyLimitMs
      while (!lifeOf(name).isReady) {
        if (Date.now() > deadline) throw new Error(`${name} is not ready within ${readyLimitMs / 1000} seconds`)
        await pause(10)
      }
    },
    kill(name: string): void {
      const life = lifeOf(name)
      life.killed.add(life.pid)
      life.isReady = false
      signal(life.pid, 'SIGKILL')
    },
    signal: (name: string, which: 'SIGSTOP' | 'SIGCONT') => signal(lifeOf(name).pid, which),
    async stop(): Promise<void> {
      isStopping = true
      await Promise.all(running.map((child) => child.stop(5_000)))
      for (const proxy of proxies.values()) await proxy.close()
      await local.stop()
    },
  }
  for (const name of processNames) await service.untilReady(name)
  return service
}

function signal(pid: number, which: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, which)
  } catch {
    // It has just ended.
  }
}
