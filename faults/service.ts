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

/** A version of the code: the folder of its checkout, and the build id of its workers if they are versioned. */
export interface Build {
  root: string
  id?: string
}

export const thisCheckout: Build = { root }

/** The name of the worker deployment whose builds are upgraded. */
export const deploymentName = 'faults'

/**
 * A build counts as drained when no workflow is pinned to it. The server looks every three minutes by itself, three
 * minutes after another build became current.
 */
const soonDrained = {
  'matching.wv.VersionDrainageStatusRefreshInterval': '"2s"',
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod': '"5s"',
}

/** Generous: the first start compiles the code, on machines that may be busy. */
const readyLimitMs = 300_000

/** More than a process with `SHUTDOWN_GRACE_SECONDS=2` takes. */
const stopLimitMs = 30_000

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
  build = thisCheckout,
  say,
}: {
  dataDir: string
  env: Record<string, string>
  /** What the processes run. */
  build?: Build
  say: (line: string) => void
}) {
  const lives = createLives(say)
  const local = await startLocalServices({
    dataDir,
    env: {},
    log: say,
    watch: lives.watch,
    need: ['temporal', 'mongo', 'redis'],
    dynamicConfig: soonDrained,
  })
  const addresses: Record<ServerName, string> = {
    MongoDB: local.env['MONGODB_URI'] ?? '',
    Redis: local.env['REDIS_URL'] ?? '',
    Temporal: local.env['TEMPORAL_ADDRESS'] ?? '',
  }
  const secrets = newSecrets()
  const shared = { ...environmentOfAll(dataDir), ...secrets, ...given }
  const ways = createWays(addresses)
  const running = new Map<string, ReturnType<typeof supervise>>()

  async function start(name: string, { root, id }: Build): Promise<void> {
    const env = await ways.environmentOf(name)
    running.set(
      name,
      supervise(
        {
          name,
          script: () => path.join(root, isApi(name) ? 'api/server.ts' : 'worker/main.ts'),
          env: { ...shared, ...env, ...versionEnv(id) },
          logFile: path.join(dataDir, 'logs', `${name.replace(' ', '-')}.log`),
          onLine: (line) => lives.noteLine(name, line),
        },
        lives.watch,
      ),
    )
  }

  const service = {
    addresses,
    secrets,
    clientUrls: ways.clientUrls,
    crashes: lives.crashes,
    errors: lives.errors,
    between: ways.between,
    toClients: ways.toClients,
    pidOf: lives.pidOf,
    isReady: lives.isReady,
    untilReady: lives.untilReady,
    kill: lives.kill,
    signal: lives.signal,
    /** Runs a command of the build to its end, and returns what it printed. Throws if it fails. */
    runScript: (of: Build, script: string, ...args: string[]): Promise<string[]> =>
      runScript(of, { script, args, dataDir, env: { ...shared, ...local.env, ...versionEnv(of.id) } }),
    start,
    /** Asks the process to end (`SIGTERM`), as at its replacement. Throws if it must be killed. */
    async stopGently(name: string): Promise<void> {
      lives.noteStop(name)
      const how = await running.get(name)?.stop(stopLimitMs)
      running.delete(name)
      if (how !== 'exit code 0') throw new Error(`${name} did not end well when it was stopped: ${how}`)
    },
    async stop(): Promise<void> {
      lives.noteEndOfAll()
      await Promise.all([...running.values()].map((child) => child.stop(5_000)))
      await ways.close()
      await local.stop()
    },
  }
  await service.runScript(build, 'migrate.ts')
  for (const name of processNames) await start(name, build)
  for (const name of processNames) await service.untilReady(name)
  return service
}

/** What happens to processes and servers: which runs under which id, which is ready, which ended by itself. */
function createLives(say: (line: string) => void) {
  const lives = new Map<string, Life>()
  /** Processes that ended by themselves after they had been ready. */
  const crashes: string[] = []
  /** Lines of level error and above, by their message. */
  const errors = new Map<string, number>()
  let isStopping = false
  const lifeOf = (name: string) => {
    const life = lives.get(name) ?? { pid: 0, isReady: false, killed: new Set<number>() }
    lives.set(name, life)
    return life
  }
  return {
    crashes,
    errors,
    watch: {
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
    },
    noteLine(name: string, line: string): void {
      const level = Number(/"level":(\d+)/.exec(line)?.[1] ?? 0)
      const message = /"msg":"([^"]*)"/.exec(line)?.[1] ?? ''
      if (message === 'listening' || message === 'worker ready') lifeOf(name).isReady = true
      if (level >= 50) errors.set(message, (errors.get(message) ?? 0) + 1)
    },
    /** The process is being stopped: its end is no crash. */
    noteStop(name: string): void {
      lifeOf(name).isReady = false
    },
    noteEndOfAll(): void {
      isStopping = true
    },
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
  }
}

/** The ways between processes, servers and clients: each leads through a proxy of its own. */
function createWays(addresses: Record<ServerName, string>) {
  const proxies = new Map<string, TcpProxy>()
  /** The environment of each process by its name: one that is replaced keeps its proxies and its port. */
  const environments = new Map<string, Record<string, string>>()
  const clientUrls: string[] = []

  async function open(name: string): Promise<Record<string, string>> {
    const env: Record<string, string> = { RUNS_IN_API: String(isApi(name)) }
    for (const server of serverNames) {
      const proxy = await startProxyOf(addresses[server])
      proxies.set(`${name}/${server}`, proxy)
      env[addressVariables[server]] = proxy.throughProxy
    }
    if (!isApi(name)) return env
    const port = await freePort()
    const proxy = await startTcpProxy(`127.0.0.1:${port}`)
    proxies.set(`clients/${name}`, proxy)
    clientUrls.push(`http://${proxy.address}`)
    return { ...env, PORT: String(port) }
  }

  return {
    clientUrls,
    /** The variables that name the addresses of the process and of its servers. */
    async environmentOf(name: string): Promise<Record<string, string>> {
      const env = environments.get(name) ?? (await open(name))
      environments.set(name, env)
      return env
    },
    /** The proxies between these processes and this server. */
    between: (names: readonly string[], server: ServerName): TcpProxy[] =>
      names.flatMap((name) => proxies.get(`${name}/${server}`) ?? []),
    toClients: (): TcpProxy[] => processNames.flatMap((name) => proxies.get(`clients/${name}`) ?? []),
    async close(): Promise<void> {
      for (const proxy of proxies.values()) await proxy.close()
    },
  }
}

const addressVariables: Record<ServerName, string> = {
  MongoDB: 'MONGODB_URI',
  Redis: 'REDIS_URL',
  Temporal: 'TEMPORAL_ADDRESS',
}

const newSecrets = () => ({
  SECRETS_KEY: randomBytes(32).toString('base64'),
  JWT_SECRET: randomBytes(32).toString('hex'),
  ADMIN_TOKEN: randomBytes(24).toString('hex'),
})

const environmentOfAll = (dataDir: string) => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  NODE_COMPILE_CACHE: path.join(dataDir, 'compiled'),
  ...steadyMemory,
  DATA_DIR: dataDir,
  HOST: '127.0.0.1',
  THREAD_MAX_DEFAULT: '1000000',
  SHUTDOWN_GRACE_SECONDS: '2',
  LOG_LEVEL: 'info',
})

async function runScript(
  { root }: Build,
  {
    script,
    args,
    dataDir,
    env,
  }: { script: string; args: string[]; dataDir: string; env: Record<string, string | undefined> },
): Promise<string[]> {
  const lines: string[] = []
  const child = startChild({
    name: script,
    script: path.join(root, 'scripts', script),
    args,
    env,
    logFile: path.join(dataDir, 'logs', `${script}.log`),
    onLine: (line) => lines.push(line),
  })
  const [how] = await Promise.all([child.exited, child.closed])
  if (how !== 'exit code 0')
    throw new Error(`${[script, ...args].join(' ')} failed (${how}): ${lines.slice(-3).join(' | ')}`)
  return lines
}

const isApi = (name: string) => name.startsWith('api')

function versionEnv(buildId: string | undefined) {
  if (buildId === undefined) return {}
  return { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId }
}

function signal(pid: number, which: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, which)
  } catch {
    // It has just ended.
  }
}
