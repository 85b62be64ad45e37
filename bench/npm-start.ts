import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { forEachLine } from '../infra/lines.ts'
import type { BenchContext } from './environment.ts'
import { quantile } from './statistics.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] || 5)
const root = path.join(import.meta.dirname, '..')

/** The time from the command `npm start` to its banner: with an empty data folder, and with a filled one. */
export async function benchNpmStart(context: BenchContext): Promise<void> {
  // The processes of the other measurements would take processor time from it.
  await Promise.all([context.api.stop(), context.worker.stop()])
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-bench-start-'))
  try {
    const seconds: number[] = []
    for (let round = 0; round <= rounds; round++) seconds.push(await startOnce(dataDir))
    const [first = Number.NaN, ...warm] = seconds
    const list = warm.map((value) => value.toFixed(1)).join(', ')
    context.log(`\nReady after ${first.toFixed(1)} s with an empty data folder, then after ${list} s.`)
    context.log(`The median of the later starts is ${quantile(warm, 0.5).toFixed(1)} s (goal: 3).`)
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 })
  }
}

async function startOnce(dataDir: string): Promise<number> {
  const startedAt = performance.now()
  const main: ChildProcess = spawn(process.execPath, ['local/bootstrap.mjs', 'local/start.ts'], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: dataDir, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(main, 'exit')
  const ready = Promise.withResolvers<number>()
  if (main.stdout)
    void forEachLine(main.stdout, (line) => {
      if (line.startsWith('The service is ready')) ready.resolve(performance.now() - startedAt)
    })
  void ended.then(() => ready.reject(new Error('npm start ended before it was ready')))
  const ms = await ready.promise
  main.kill('SIGTERM')
  await ended
  return ms / 1000
}
