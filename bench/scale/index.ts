import { access, mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchContext } from '../environment.ts'
import { table } from '../statistics.ts'
import { scaleSettings } from './settings.ts'

interface Built {
  storing: number
  settling: number
  lastFile: number
  small: number
  mostMiB: number
}

interface Times {
  median: number
  most: number
}

interface Searched {
  first: number
  large: Times
  vectorsOnly: Times
  recall: number
  small?: Times
  beside?: Times
  memory: { before: number; afterLarge: number; atTheEnd: number }
}

/**
 * One assistant with a million vectors beside ten thousand with fifty each, in the service's own store. What
 * `BENCH_SCALE_DIR` names is kept, and used again by the next run with the same numbers.
 */
export async function benchScale(context: BenchContext): Promise<void> {
  const { vectors, dimensions, assistants, each } = scaleSettings()
  const kept = process.env['BENCH_SCALE_DIR']
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'bench-scale-')))
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('BENCH_SCALE_'))),
    BENCH_SCALE_DIR: folder,
  }
  try {
    const built = await build(context, env)
    const { ready } = await context.startProcess('bench/scale/search.ts', env)
    const found = ready as unknown as Searched
    const ms = (time?: number) => (time === undefined ? '–' : `${time.toFixed(1)} ms`)
    const row = (name: string, times?: Times) => [name, ms(times?.median), ms(times?.most)]
    context.log(
      `\n### One assistant with ${vectors} vectors of ${dimensions} dimensions, and ${assistants} with ${each} each\n`,
    )
    context.log(
      table(
        ['search', 'median (goal: 50 ms)', '95 %'],
        [
          row('the large one, vectors and words', found.large),
          row('the large one, vectors alone', found.vectorsOnly),
          row('each of the others once', found.small),
          row('others while the large one is searched', found.beside),
        ],
      ),
    )
    const { before, afterLarge, atTheEnd } = found.memory
    const mib = (size: number) => `${size.toFixed(0)} MiB`
    context.log(`\nRecall against exact search, ten nearest: ${(100 * found.recall).toFixed(1)} %.`)
    context.log(`First search after a start: ${ms(found.first)} (files in the page cache).`)
    context.log(`Memory of the process: ${mib(before)}, large ${mib(afterLarge)}, end ${mib(atTheEnd)}.`)
    context.log(
      `Building: ${built.storing.toFixed(0)} s to store, ${built.settling.toFixed(0)} s for indexes (the last file ${built.lastFile.toFixed(1)} s), ${built.small.toFixed(0)} s for the others; ${mib(built.mostMiB)} at most.`,
    )
  } finally {
    if (kept === undefined) await rm(folder, { recursive: true, force: true })
  }
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
