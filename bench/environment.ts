import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { forEachLine } from '../infra/lines.ts'
import { buildProcesses } from '../local/build-for-next-start.ts'
import { startLocalServices } from '../local/services/index.ts'
import type { Watch } from '../local/services/keep-running.ts'
import { steadyMemory } from '../local/steady-memory.ts'
import { processEntries, scriptOf } from '../scripts/process-bundle.ts'
import { createTokens } from '../services/auth/tokens.ts'
import { createClient } from './client.ts'
import type { Timing } from './load.ts'
import { type MeasuredProcess, processOf } from './processes.ts'

export interface BenchProcess extends MeasuredProcess {
  stop(): Promise<void>
}

/** A service on its own servers, which every measurement uses. */
export interface BenchContext {
  url: string
  env: Record<string, string>
  api: BenchProcess
  worker: BenchProcess
  /** The database that was started for this measurement; one that is killed is started again. */
  database: { pid(): number; memoryMiB(): Promise<number>; processorMs(): Promise<number> }
  /** The processes that make up the service. */
  servers: Record<'API' | 'worker' | 'Temporal' | 'database' | 'Redis', MeasuredProcess>
  model: MeasuredProcess
  /** This process: the cost of the client. */
  client: MeasuredProcess
  /** The model itself, without the service. */
  askModel(): Promise<Timing>
  /** Base address of the bare model, for `OPENAI_BASE_URL`. */
  modelUrl: string
  /** A new user's token. */
  newToken(): Promise<string>
  /** Starts one of our scripts beside the service; resolves when it prints a JSON line, or the log line `isReady`. */
  startProcess(
    script: string,
    env?: Record<string, string>,
    isReady?: string,
  ): Promise<BenchProcess & { ready: Record<string, unknown> }>
  log(line: string): void
}

/**
 * Starts servers in a temporary folder, a bare model, worker and API; passes the context to the measurement, and
 * removes everything afterwards.
 */
export async function withBenchContext(work: (context: BenchContext) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'assistant-bench-'))
  const log = (line: string) => console.log(line)
  const pids = new Map<string, number>()
  const watch: Watch = {
    say: (line) => log(`> ${line}`),
    onStart: (name, pid) => {
      if (pid !== undefined) pids.set(name, pid)
    },
  }
  const local = await startLocalServices({ dataDir, env: {}, log: (line) => log(`> ${line}`), watch })
  const databasePid = () => pids.get('MongoDB') ?? 0
  const children: ChildProcess[] = []
  // An interrupted measurement leaves nothing running; the servers stop by themselves.
  const endAll = () => children.forEach((child) => child.kill('SIGKILL'))
  const leave = () => process.exit(130)
  process.once('exit', endAll).once('SIGINT', leave).once('SIGTERM', leave)
  try {
    const start = (script: string, env: Record<string, string>, isReady?: string) =>
      startScript(children, script, env, isReady)
    const model = await start('bench/bare/model.ts', {})
    const modelUrl = String(model.ready['url'])
    const jwtSecret = randomBytes(32).toString('hex')
    const env: Record<string, string> = {
      ...local.env,
      PORT: '0',
      DATA_DIR: dataDir,
      JWT_SECRET: jwtSecret,
      SECRETS_KEY: randomBytes(32).toString('base64'),
      OPENAI_API_KEY: 'bench',
      OPENAI_BASE_URL: modelUrl,
      DEFAULT_MODEL: 'bare',
      EMBEDDING_DIMENSIONS: '256',
      // The tools of a run call the model's process.
      OUTBOUND_ALLOW: '127.0.0.1',
      THREAD_MAX_DEFAULT: '1000000000',
      SCHEDULE_MAX_DEFAULT: '1000000',
      CRAWL_PAUSE_MS: '0',
      SHUTDOWN_GRACE_SECONDS: '2',
      // As with `npm start`; `RUNS_IN_API=false npm run bench -- runs` measures the other topology.
      RUNS_IN_API: process.env['RUNS_IN_API'] || 'true',
      LOG_LEVEL: 'info',
      ...steadyMemory,
    }
    await start('scripts/migrate.ts', env, 'migrations done')
    // With `BENCH_BUNDLED=true` as in production, and so that readers are bundled too.
    const isBundled = process.env['BENCH_BUNDLED'] === 'true'
    if (isBundled) await buildProcesses(log)
    const scriptNamed = (name: 'api' | 'worker') => (isBundled ? scriptOf(name) : processEntries[name])
    const worker = await start(scriptNamed('worker'), env, 'worker ready')
    const api = await start(scriptNamed('api'), env, 'listening')
    const tokens = createTokens({
      jwtAlgorithms: ['HS256'],
      jwtIssuer: 'assistant-platform',
      jwtAudience: 'assistant-platform',
      jwtSecret,
    })
    const modelClient = createClient(new URL(modelUrl).origin)
    const server = (name: string) => processOf(pids.get(name) ?? 0)
    await work({
      url: String(api.ready['address']),
      env,
      api,
      worker,
      database: {
        pid: databasePid,
        memoryMiB: () => processOf(databasePid()).memoryMiB(),
        processorMs: () => processOf(databasePid()).processorMs(),
      },
      servers: {
        API: api,
        worker,
        Temporal: server('Temporal'),
        database: server('MongoDB'),
        Redis: server('Redis'),
      },
      model,
      client: processOf(process.pid),
      askModel: () => modelClient.send('/v1/chat/completions', { method: 'POST', body: { stream: true } }),
      modelUrl,
      newToken: () => tokens.sign({ user_id: randomUUID(), project_id: randomUUID() }),
      startProcess: (script, more = {}, isReady) => start(script, { ...env, ...more }, isReady),
      log,
    })
  } finally {
    process.off('exit', endAll).off('SIGINT', leave).off('SIGTERM', leave)
    for (const child of children.toReversed()) await stop(child)
    await local.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function startScript(children: ChildProcess[], script: string, env: Record<string, string>, isReady?: string) {
  // With `BENCH_PROFILE=folder`, API and worker write their CPU profiles there.
  const folder = isReady === undefined ? undefined : process.env['BENCH_PROFILE']
  const flags = folder
    ? ['--cpu-prof', '--cpu-prof-dir', folder, '--cpu-prof-name', `${basename(script, '.ts')}.cpuprofile`]
    : []
  const child = spawn(process.execPath, [...flags, script], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const ready = Promise.withResolvers<Record<string, unknown>>()
  void once(child, 'exit').then(() => ready.reject(new Error(`${script} ended`)))
  void forEachLine(child.stdout, (line) => {
    const said: unknown = line.startsWith('{') ? JSON.parse(line) : undefined
    if (isRecord(said) && (isReady === undefined || said['msg'] === isReady)) ready.resolve(said)
  })
  const pid = child.pid ?? 0
  return { ready: await ready.promise, ...processOf(pid), stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 8000)
  await exited
  clearTimeout(timer)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
