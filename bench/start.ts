import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { buildProcesses } from '../local/build-for-next-start.ts'
import { processEntries, scriptOf } from '../scripts/process-bundle.ts'
import type { BenchContext } from './environment.ts'
import { quantile, table } from './statistics.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] || 3)
/** Only after some 15 s without work does V8 collect what the start has left. */
const settleMs = Number(process.env['BENCH_SETTLE_SECONDS'] || 30) * 1000

/** With `BENCH_BUNDLED=true`, they run from the bundle, as in later starts of `npm start`. */
const isBundled = process.env['BENCH_BUNDLED'] === 'true'

const processes = {
  API: { name: 'api', isReady: 'listening' },
  worker: { name: 'worker', isReady: 'worker ready' },
} as const

/**
 * What the start of API and worker costs, and what they hold when they are idle, with a filled compile cache as in
 * `npm start`. Both figures depend little on the load of the machine.
 */
export async function benchStart(context: BenchContext): Promise<void> {
  // The processes of the other measurements would share the work of the queues with those of this one.
  await Promise.all([context.api.stop(), context.worker.stop()])
  const env = { NODE_COMPILE_CACHE: path.join(String(context.env['DATA_DIR']), 'compiled') }
  if (isBundled) await buildProcesses(context.log)
  const rows: string[][] = []
  let idle = 0
  for (const [title, { name, isReady }] of Object.entries(processes)) {
    const ready: number[] = []
    const settled: number[] = []
    const memory: number[] = []
    // The first start fills the compile cache.
    for (let round = 0; round <= rounds; round++) {
      const started = await context.startProcess(isBundled ? scriptOf(name) : processEntries[name], env, isReady)
      const readyMs = await started.processorMs()
      await pause(settleMs)
      if (round > 0) {
        ready.push(readyMs)
        settled.push(await started.processorMs())
        memory.push(await started.memoryMiB())
      }
      await started.stop()
    }
    idle += quantile(memory, 0.5)
    rows.push([
      title,
      quantile(ready, 0.5).toFixed(0),
      quantile(settled, 0.5).toFixed(0),
      quantile(memory, 0.5).toFixed(0),
    ])
  }
  context.log(`\n### Starts with a filled compile cache, medians of ${rounds}\n`)
  const heads = [
    '',
    'processor time until ready (ms)',
    `… ${settleMs / 1000} s later (ms)`,
    'resident memory then (MiB)',
  ]
  context.log(table(heads, rows))
  context.log(`\nBoth together: ${idle.toFixed(0)} MiB when idle (goal: 350).`)
}
