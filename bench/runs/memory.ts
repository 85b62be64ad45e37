import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { buildProcesses } from '../../local/build-for-next-start.ts'
import { scriptOf } from '../../scripts/process-bundle.ts'
import { createClient } from '../client.ts'
import type { BenchContext } from '../environment.ts'
import { drive } from '../load.ts'
import { table } from '../statistics.ts'
import { newTalk, newThread, streamRun } from './talks.ts'

const wanted = Number(process.env['BENCH_RUNS'] || 10_000)
const settleMs = Number(process.env['BENCH_SETTLE_SECONDS'] || 30) * 1000
const atOnce = 16
const parts = 4

/** Resident memory of API and worker, run from the bundle, before, during and after many runs. */
export async function benchMemory(context: BenchContext): Promise<void> {
  await Promise.all([context.api.stop(), context.worker.stop()])
  await buildProcesses(context.log)
  const env = { NODE_COMPILE_CACHE: path.join(String(context.env['DATA_DIR']), 'compiled') }
  const worker = await context.startProcess(scriptOf('worker'), env, 'worker ready')
  const api = await context.startProcess(scriptOf('api'), env, 'listening')
  const client = createClient(String(api.ready['address']))
  const rows: string[][] = []
  const note = async (when: string) => {
    const [ofApi, ofWorker] = [await api.memoryMiB(), await worker.memoryMiB()]
    rows.push([when, ...[ofApi, ofWorker, ofApi + ofWorker].map((mib) => mib.toFixed(0))])
  }
  await pause(settleMs)
  await note('idle')
  const user = await newTalk({ ...context, url: String(api.ready['address']) }, client)
  let done = 0
  for (let part = 1; part <= parts; part++) {
    const talks = await Promise.all(Array.from({ length: atOnce * 3 }, () => newThread(client, user)))
    let begun = 0
    const load = await drive(
      async (slot) => {
        const place = begun++
        return streamRun(client, talks[(place % 3) * atOnce + slot] ?? user)
      },
      { atOnce, ms: Infinity, count: wanted / parts },
    )
    if (load.failed > 0) context.log(`${load.failed} failed. The first: ${load.failure}`)
    done += load.count
    await note(`after ${done} runs, at once`)
  }
  await pause(settleMs)
  await note(`${settleMs / 1000} s later`)
  context.log('\n### Resident memory (MiB; goal after 10,000 runs: 450)\n')
  context.log(table(['', 'API', 'worker', 'both'], rows))
  await client.close()
  await Promise.all([api.stop(), worker.stop()])
}
