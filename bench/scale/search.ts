import { readFile } from 'node:fs/promises'
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
  return { median: quantile(times, 0.5), most: quantile(times, 0.95) }
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
const small = assistants > 0 ? await many(assistants, (index) => ask(smallSpace(index), index)) : undefined
let isOver = false
const meanwhile = (async () => {
  for (let index = 0; !isOver; index++) await ask(largeSpace, index)
})()
const beside = small && (await many(500, (index) => ask(smallSpace((index * 19) % assistants), index)))
isOver = true
await meanwhile
const memory = { before, afterLarge, atTheEnd: await memoryMiB() }
const recall = right / (questions * limit)
console.log(JSON.stringify({ first: first.ms, large, vectorsOnly, recall, small, beside, memory }))
await store.close()
process.exit(0)
