import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { BenchContext } from '../environment.ts'
import { type MeasuredProcess, processOf } from '../processes.ts'
import { table } from '../statistics.ts'
import { newKnowledge } from './client.ts'

const bytes = Number(process.env['BENCH_TEXT_MB'] || 50) * 1_000_000

/** One large text through the pipeline, with the processor time of every process that takes part. */
export async function benchText(context: BenchContext): Promise<void> {
  const dictionary = await readFile(join(import.meta.dirname, '../corpus/devils-dictionary.txt'))
  const client = await newKnowledge(context)
  await client.upload([{ name: 'warm-up.txt', content: new Blob([dictionary]) }])

  // One flat piece: a blob of many parts costs the client a multiple.
  const content = new Blob([Buffer.alloc(bytes, dictionary)])
  const { servers, model, client: caller } = context
  const processes: Record<string, MeasuredProcess> = { ...servers, 'embedding server': model, client: caller }
  const times = async () => {
    const all = Object.entries(processes).map(async ([name, one]) => [name, await one.processorMs()] as const)
    return Object.fromEntries(await Promise.all(all))
  }
  const children = watchChildren(context.worker.pid)
  await children.sample()
  const childrenBefore = children.times()
  const before = await times()
  const startedAt = performance.now()
  const { files } = await client.upload([{ name: 'large.txt', content }])
  const seconds = (performance.now() - startedAt) / 1000
  await children.sample()
  const after = await times()
  const childrenAfter = children.times()
  await children.stop()

  const { status = '?', chunks = 0, embedded = 0 } = files[0]?.metadata ?? {}
  context.log(`\n### ${(bytes / 1e6).toFixed(0)} MB of text, upload to found, embedding server that answers at once\n`)
  context.log(
    `${seconds.toFixed(1)} s for ${chunks} chunks, ${embedded} embedded, the file is ${status} (goal for 50 MB: 25 s).\n`,
  )
  const spent = Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)] as const)
  const ofChildren = Object.entries(childrenAfter).map(
    ([name, ms]) => [name, ms - (childrenBefore[name] ?? 0)] as const,
  )
  const all = [...ofChildren, ...spent]
  const served = all.filter(([name]) => name !== 'client' && name !== 'embedding server')
  const row = (name: string, ms: number) => [name, (ms / 1000).toFixed(1), ((1000 * ms) / chunks).toFixed(0)]
  context.log(
    table(
      ['process', 'processor time (s)', 'of 1,000 chunks (ms)'],
      [
        ...all.map(([name, ms]) => row(name, ms)),
        row(
          'all but client and embedding server',
          served.reduce((sum, [, ms]) => sum + ms, 0),
        ),
      ],
    ),
  )
}

/** The processes that the worker starts: readers of files, and builders of indexes. The last look at each counts. */
function watchChildren(parent: number) {
  const seen = new Map<number, { kind: string; ms: number }>()
  let isOver = false
  async function sample(): Promise<void> {
    for (const name of await readdir('/proc')) {
      const pid = Number(name)
      if (!Number.isInteger(pid)) continue
      // A process may end between two looks.
      await look(pid).catch(() => undefined)
    }
  }
  async function look(pid: number): Promise<void> {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
    if (Number(fields[1]) !== parent) return
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8')
    const kind = command.includes('lance-indexes-process') ? 'index builder' : 'readers'
    seen.set(pid, { kind, ms: await processOf(pid).processorMs() })
  }
  const sampling = (async () => {
    while (!isOver) {
      await sample()
      await pause(2000)
    }
  })()
  return {
    sample,
    times(): Record<string, number> {
      const sums: Record<string, number> = { readers: 0, 'index builder': 0 }
      for (const { kind, ms } of seen.values()) sums[kind] = (sums[kind] ?? 0) + ms
      return sums
    },
    stop() {
      isOver = true
      return sampling
    },
  }
}
