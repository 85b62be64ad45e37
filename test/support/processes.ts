import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { migrate } from '../../composition/migrations.ts'
import { loadSettings } from '../../infra/config.ts'
import { forEachLine } from '../../infra/lines.ts'
import { createLogger } from '../../infra/logger.ts'
import { scriptOf } from '../../scripts/process-bundle.ts'
import { plainEnv } from './plain-env.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface ServiceProcess {
  /** What the process said when it was ready: of the API `{address}`, of the worker `{queues}`. */
  ready: Record<string, unknown>
  pid: number
  /** Ends the process as a crash does, and waits until it is gone. */
  kill(): Promise<void>
  /** Lets the process stand still until `resume`. */
  pause(): void
  resume(): void
  /** Settles when the process is gone, however it ended. */
  exited: Promise<unknown>
  /** Asks the process to end, and waits for its exit code. */
  stop(): Promise<number | null>
}

const started = new Set<ChildProcess>()

/**
 * Starts the worker, as `npm start` does (from its bundle, when there is one), with the environment of a test service
 * (`serviceEnv`).
 */
export async function startWorkerProcess(env: Record<string, string>): Promise<ServiceProcess> {
  await migrateOnce(env)
  return startProcess(scriptOf('worker'), env, 'worker ready')
}

/** Starts the worker so that it dies when its activity number `dieAt` is done, before Temporal hears of it. */
export function startDyingWorker(env: Record<string, string>, dieAt: number): Promise<ServiceProcess> {
  const preload = fileURLToPath(new URL('dying-worker.ts', import.meta.url))
  return startProcess(scriptOf('worker'), { ...env, DIE_AT: String(dieAt) }, 'worker ready', { preload })
}

/** Starts the API in the same way; its address is `url`. */
export async function startApiProcess(env: Record<string, string>): Promise<ServiceProcess & { url: string }> {
  await migrateOnce(env)
  const process = await startProcess(scriptOf('api'), env, 'listening')
  return { ...process, url: String(process.ready['address']) }
}

const migrations = new Map<string | undefined, Promise<unknown>>()

async function migrateOnce(env: Record<string, string>): Promise<void> {
  const database = env['MONGODB_URI']
  const running = migrations.get(database) ?? migrate(loadSettings(env), createLogger('test', 'silent'))
  migrations.set(database, running)
  await running
}

/** Starts one of our scripts and waits for the log line that says that it is ready. */
export async function startProcess(
  script: string,
  env: Record<string, string>,
  readyMessage: string,
  /** Where and as whom it runs, when not here and as the tests do; `preload`: a module that is loaded before it. */
  { cwd = root, preload, ...as }: { cwd?: string; preload?: string; uid?: number; gid?: number } = {},
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [...(preload === undefined ? [] : ['--import', preload]), script], {
    cwd,
    ...as,
    env: { ...plainEnv(), ...env, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.add(child)
  const exited = once(child, 'exit').then(() => started.delete(child))
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const ready = Promise.withResolvers<Record<string, unknown>>()
  void forEachLine(child.stdout, (line) => {
    output = `${output}${line}\n`.slice(-20_000)
    const said: unknown = line.startsWith('{') ? JSON.parse(line) : undefined
    if (isRecord(said) && said['msg'] === readyMessage) ready.resolve(said)
  })
  void exited.then(() => ready.reject(new Error(`${script} ended before it was ready:\n${output}`)))
  return {
    ready: await ready.promise,
    pid: child.pid ?? 0,
    exited,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
      return child.exitCode
    },
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})
