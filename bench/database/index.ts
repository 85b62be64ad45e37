import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import mongoose, { mongo } from 'mongoose'
import { newId } from '../../domain/ids.ts'
import { messageTerms, wordsOf } from '../../domain/search/message-terms.ts'
import type { BenchContext } from '../environment.ts'
import { table } from '../statistics.ts'
import { benchDeletion } from './deletion.ts'
import { benchKills } from './kills.ts'
import { benchLists } from './lists.ts'

/** The load that the database of `npm start` can take: large deletions, kills, many records. */
export const databaseParts: Record<string, (context: BenchContext) => Promise<void>> = {
  compression: benchCompression,
  deletion: benchDeletion,
  kills: benchKills,
  lists: benchLists,
  records: benchRecords,
}

const compress = promisify(zstdCompress)

/** What WiredTiger compresses at once, and the level that MongoDB uses. */
const blockBytes = 32 * 1024
const zstdLevel = 6
const entries = 5000
const charactersOfMessage = 1200

/**
 * What `blockCompressor: zstd` saves of the log of threads. The records are laid into blocks as WiredTiger does it, and
 * compressed here, because the database of `npm start` is built without zstd.
 */
async function benchCompression(context: BenchContext): Promise<void> {
  const corpus = await readFile(new URL('../corpus/devils-dictionary.txt', import.meta.url), 'utf8')
  const thread = { project_id: newId(), public: false }
  const records = Array.from({ length: entries }, (_, index) => {
    const from = (index * charactersOfMessage) % (corpus.length - charactersOfMessage)
    const content = corpus.slice(from, from + charactersOfMessage)
    const message = { type: 'HumanMessage' as const, data: { id: newId(), content } }
    const entry = { _id: newId(), seq: index + 1, source: 'update' as const, created_at: new Date() }
    const messages_json = JSON.stringify([message])
    const search = messageTerms(thread, entry, wordsOf([message]))
    return mongoose.mongo.BSON.serialize({ ...entry, thread_id: thread.project_id, messages_json, search })
  })
  const all = Buffer.concat(records)
  let compressed = 0
  for (let start = 0; start < all.length; start += blockBytes) {
    const params = { [constants.ZSTD_c_compressionLevel]: zstdLevel }
    compressed += (await compress(all.subarray(start, start + blockBytes), { params })).length
  }
  const kilobytes = (bytes: number) => Math.round(bytes / 1000).toLocaleString('en')
  const share = `${Math.round((100 * compressed) / all.length)} %`
  context.log('\n### The log of threads in the database (kilobytes)\n')
  context.log(
    table(
      ['', 'as it is', 'zstd', 'left'],
      [[`${entries} messages`, kilobytes(all.length), kilobytes(compressed), share]],
    ),
  )
}

const thousands = 100
const atOnce = 16
/** Shown in the table. */
const shown = [1, 2, 3, 10, 25, 50, 75, 98, 99, 100]

/**
 * 100,000 small records, each by a journalled write of its own, in a collection with the indexes of the
 * chunks of files. The processor time says more than the clock on a busy machine.
 */
async function benchRecords(context: BenchContext): Promise<void> {
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
