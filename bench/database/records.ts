import { mongo } from 'mongoose'
import type { BenchContext } from '../environment.ts'
import { table } from '../statistics.ts'

const thousands = 100
const atOnce = 16
/** Shown in the table. */
const shown = [1, 2, 3, 10, 25, 50, 75, 98, 99, 100]

/**
 * 100,000 small records, each by a journalled write of its own, in a collection with the indexes of the
 * chunks of files. The processor time says more than the clock on a busy machine.
 */
export async function benchRecords(context: BenchContext): Promise<void> {
  const client = new mongo.MongoClient(context.env['MONGODB_URI'] ?? '', {
    maxPoolSize: 50,
    writeConcern: { w: 'majority', journal: true },
  })
  try {
    const records = client.db('bench').collection<{ _id: string } & Record<string, string | number>>('records')
    await records.createIndex({ assistant_id: 1, file_id: 1, position: 1 })
    let next = 0
    const write = async () => {
      const position = next++
      const file = `file-${Math.floor(position / 20)}`
      const record = { _id: `${file}:${position}`, assistant_id: `assistant-${position % 50}`, file_id: file, position }
      await records.insertOne({ ...record, text: 'Some words of a chunk. '.repeat(10) })
    }
    context.log(`\n### ${thousands},000 small records, ${atOnce} writes at once: cost of one record\n`)
    context.log(table(['thousand', 'milliseconds', 'processor time of the database, milliseconds'], []))
    const costs: { wall: number; processor: number }[] = []
    for (let thousand = 1; thousand <= thousands; thousand++) {
      const processorBefore = await context.database.processorMs()
      const startedAt = performance.now()
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (next < thousand * 1000) await write()
        }),
      )
      const wall = (performance.now() - startedAt) / 1000
      const processor = ((await context.database.processorMs()) - processorBefore) / 1000
      costs.push({ wall, processor })
      if (shown.includes(thousand)) context.log(`| ${thousand} | ${wall.toFixed(2)} | ${processor.toFixed(2)} |`)
    }
    const mean = (part: typeof costs) => part.reduce((sum, { processor }) => sum + processor, 0) / part.length
    const ratio = mean(costs.slice(-10)) / mean(costs.slice(0, 10))
    context.log(
      `\nThe last ten thousand cost ${ratio.toFixed(2)} times the processor time of the first ten thousand (goal: 1). Memory of the database at the end: ${(await context.database.memoryMiB()).toFixed(0)} MiB.`,
    )
  } finally {
    await client.close()
  }
}
