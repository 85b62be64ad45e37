import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { processOf } from '../processes.ts'
import { quantile } from '../statistics.ts'
import { createCollection } from './collection.ts'
import { largeSpace, scaleSettings, smallSpace, storeIn } from './settings.ts'

/** Searches what `build.ts` left in the folder, in a new process. Prints its measurements. */
const folder = process.env['BENCH_SCALE_DIR'] ?? ''
const { dimensions, assistants, questions, limit } = scaleSettings()
const collection = createCollection(dimensions)
const asked = Array.from({ length: questions }, (_, index) => collection.question(index))
const nearest = JSON.parse(await readFile(join(folder, 'exact.json'), 'utf8')) as string[][]
const growPath = join(import.meta.dirname, 'grow.ts')
const memoryMiB = () => processOf(process.pid).memoryMiB()
const before = await memoryMiB()
const store = storeIn(folder)

async function ask(space: string, number: number, text?: string) {
  const question = asked[number % questions] ?? { vector: [], text: '' }
  const startedAt = performance.now()
  const found = await store.search(space, { ...question, ...(text === undefined ? {} : { text }), limit })
  return { found, ms: performance.now() - startedAt }
}

async function many(count: number, one: (index: number) => Promise<{ ms: number }>) {
  const times: number[] = []
  for (let index = 0; index < count; index++) times.push((await one(index)).ms)
  return spread(times)
}

const spread = (times: number[]) => ({ median: quantile(times, 0.5), most: quantile(times, 0.95) })

/** The small assistants that are asked beside other work: the same ones, in the same order, each time. */
const someSmallSpace = (index: number) => smallSpace((index * 19) % assistants)
const someSmall = () => many(questions * 5, (index) => ask(someSmallSpace(index), index))

/** What `measure` answers while `work` is done again and again. */
async function beside<T>(measure: () => Promise<T>, work: (round: number) => Promise<unknown>): Promise<T> {
  let isOver = false
  const meanwhile = (async () => {
    for (let round = 0; !isOver; round++) await work(round)
  })()
  const measured = await measure()
  isOver = true
  await meanwhile
  return measured
}

/** The times of searches while another process adds files to the large assistant. */
async function besideGrowth(one: (index: number) => Promise<{ ms: number }>) {
  const worker = fork(growPath, { execArgv: [] })
  let isOver = false
  const ended = once(worker, 'exit').finally(() => (isOver = true))
  await Promise.race([once(worker, 'message'), ended])
  const times: number[] = []
  for (let index = 0; !isOver; index++) times.push((await one(index)).ms)
  if ((await ended)[0] !== 0) throw new Error('the process that adds files has failed')
  return spread(times)
}

const first = await ask(largeSpace, 0)
await many(10, (index) => ask(largeSpace, index))
const large = await many(questions * 2, (index) => ask(largeSpace, index))
const vectorsOnly = await many(questions, (index) => ask(largeSpace, index, ''))
let right = 0
for (const [number, ids] of nearest.entries()) {
  const { found } = await ask(largeSpace, number, '')
  right += found.filter(({ id }) => ids.includes(id)).length
}
const afterLarge = await memoryMiB()
// Each of the many assistants is asked once: none is warm.
const small = await many(assistants, (index) => ask(smallSpace(index), index))
const atTheEnd = await memoryMiB()
const handles = (await readdir('/proc/self/fd')).length
const alone = await someSmall()
const besideSmall = await beside(someSmall, (round) => ask(smallSpace(round % assistants), round))
const besideLarge = await beside(someSmall, (round) => ask(largeSpace, round))
const smallBesideGrowth = await besideGrowth((index) => ask(someSmallSpace(index), index))
const growing = await besideGrowth((index) => ask(largeSpace, index))
console.log(
  JSON.stringify({
    first: first.ms,
    times: { large, vectorsOnly, small, alone, besideSmall, besideLarge, besideGrowth: smallBesideGrowth, growing },
    recall: right / (questions * limit),
    memory: { before, afterLarge, atTheEnd },
    handles,
  }),
)
await store.close()
process.exit(0)
