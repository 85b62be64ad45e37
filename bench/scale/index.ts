import { access, mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchContext } from '../environment.ts'
import { table } from '../statistics.ts'
import { scaleSettings } from './settings.ts'

interface Built {
  storing: number
  settling: number
  longestSettling: number
  small: number
  writtenMiB: number
  /** Of the large assistant: ids, texts and vectors. */
  rowsMiB: number
  mostMiB: number
}

interface Times {
  median: number
  most: number
}

type Search = 'large' | 'vectorsOnly' | 'small' | 'alone' | 'besideSmall' | 'besideLarge' | 'besideGrowth' | 'growing'

interface Searched {
  first: number
  times: Record<Search, Times>
  recall: number
  memory: { before: number; afterLarge: number; atTheEnd: number }
  handles: number
}

/**
 * One assistant with a million vectors beside ten thousand with fifty each, in the service's own store. What
 * `BENCH_SCALE_DIR` names is kept, and used again by the next run with the same numbers.
 */
export async function benchScale(context: BenchContext): Promise<void> {
  const kept = process.env['BENCH_SCALE_DIR']
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'bench-scale-')))
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('BENCH_SCALE_'))),
    BENCH_SCALE_DIR: folder,
  }
  try {
    const built = await build(context, env)
    const { ready } = await context.startProcess('bench/scale/search.ts', env)
    report(context, built, ready as unknown as Searched)
  } finally {
    if (kept === undefined) await rm(folder, { recursive: true, force: true })
  }
}

function report({ log }: BenchContext, built: Built, { first, times, recall, memory, handles }: Searched): void {
  const { vectors, dimensions, assistants, each } = scaleSettings()
  const ms = (time: number) => `${time.toFixed(1)} ms`
  const mib = (size: number) => `${size.toFixed(0)} MiB`
  const row = (name: string, { median, most }: Times) => [name, ms(median), ms(most)]
  log(`\n### One assistant with ${vectors} vectors of ${dimensions} dimensions, and ${assistants} with ${each} each\n`)
  log(
    table(
      ['search', 'median (goal: 50 ms)', '95 %'],
      [
        row('the large one, vectors and words', times.large),
        row('the large one, vectors alone', times.vectorsOnly),
        row('… while it takes files', times.growing),
        row('each of the others once', times.small),
        row('some of the others again', times.alone),
        row('… while another of them is searched', times.besideSmall),
        row('… while the large one is searched', times.besideLarge),
        row('… while the large one takes files', times.besideGrowth),
      ],
    ),
  )
  const ratio = (times.besideLarge.median / times.besideSmall.median).toFixed(2)
  log(`\nRecall against exact search, ten nearest by vectors: ${(100 * recall).toFixed(1)} %.`)
  log(`A small one beside the large one takes ${ratio} times as long as beside another small one.`)
  const slower = (times.growing.median / times.large.median).toFixed(2)
  log(`The large one takes ${slower} times as long while it takes files.`)
  log(`First search after a start: ${ms(first)} (files in the page cache).`)
  const { before, afterLarge, atTheEnd } = memory
  log(
    `The process: ${mib(before)}, after the large one ${mib(afterLarge)}, after all ${mib(atTheEnd)}; ${handles} files.`,
  )
  log(
    `Building: ${built.storing.toFixed(0)} s to store, ${built.settling.toFixed(0)} s to settle ` +
      `(the longest ${built.longestSettling.toFixed(1)} s), ${built.small.toFixed(0)} s for the others; ` +
      `${mib(built.mostMiB)} at most; ${mib(built.writtenMiB)} written for ${mib(built.rowsMiB)} of rows.`,
  )
}

async function build(context: BenchContext, env: Record<string, string> & { BENCH_SCALE_DIR: string }): Promise<Built> {
  const folder = env.BENCH_SCALE_DIR
  const done = join(folder, 'built.json')
  const settings = JSON.stringify(scaleSettings())
  const isDone = await access(done).then(
    () => true,
    () => false,
  )
  if (isDone) {
    const earlier = JSON.parse(await readFile(done, 'utf8')) as { settings: string; built: Built }
    if (earlier.settings !== settings) throw new Error(`BENCH_SCALE_DIR holds another collection: ${earlier.settings}`)
    return earlier.built
  }
  await mkdir(folder, { recursive: true })
  const { ready } = await context.startProcess('bench/scale/build.ts', env)
  const built = ready as unknown as Built
  await writeFile(done, JSON.stringify({ settings, built }))
  return built
}
