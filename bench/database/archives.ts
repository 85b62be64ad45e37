import { setTimeout as pause } from 'node:timers/promises'
import { newId } from '../../domain/ids.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import { loadSettings } from '../../infra/config.ts'
import { createKnowledge } from '../../infra/knowledge.ts'
import { connectDatabase } from '../../infra/mongo/connect.ts'
import { createSecretBox } from '../../services/secrets.ts'
import { createArchiveSweep } from '../../services/threads/archived/sweep.ts'
import type { BenchContext } from '../environment.ts'
import { quantile, secondsOf, table } from '../statistics.ts'
import { newUser } from './user.ts'

/** Threads by the number of their entries, and the words of one. The last one is full: 64 MB. */
const threads = [
  { entries: 1000, words: 40 },
  { entries: 5000, words: 40 },
  { entries: 1000, words: 9500 },
]
const rounds = Number(process.env['BENCH_ROUNDS'] || 3)
const insertedAtOnce = 500

/** What it takes to open an archived thread: its state, which reads the whole log, and the newest page of its items. */
export async function benchArchives(context: BenchContext): Promise<void> {
  const settings = loadSettings(context.env)
  const database = await connectDatabase(settings.mongodbUri)
  const { blobs, close } = createKnowledge(settings, database, fetch)
  const { collections, transaction } = database
  const secretBox = createSecretBox(settings.secretsKey)
  const sweep = createArchiveSweep({ collections, transaction, blobs, secretBox })
  const record = (id: string) => collections.threads.findById(id).lean<ThreadRecord>().orFail()
  const processorMs = async () => (await context.api.processorMs()) + (await context.database.processorMs())
  const rows: string[][] = []
  try {
    for (const { entries, words } of threads) {
      const user = await newUser(context)
      const { id } = await user.call('POST', '/v1/conversations', {})
      const threadId = String(id).replace('conv_', '')
      await plant(threadId, entries, words)
      const ways = { state: `/threads/${threadId}/state`, page: `/v1/conversations/${String(id)}/items?limit=20` }
      for (const [name, path] of Object.entries(ways)) {
        const plain: number[] = []
        const opened: number[] = []
        const back: number[] = []
        const answering: number[] = []
        const processor: number[] = []
        for (let round = 0; round < rounds; round++) {
          plain.push(1000 * (await secondsOf(() => user.call('GET', path))))
          if (!(await sweep.archive(await record(threadId)))) throw new Error('the thread was not archived')
          const before = await processorMs()
          const startedAt = performance.now()
          opened.push(1000 * (await secondsOf(() => user.call('GET', path))))
          answering.push((await processorMs()) - before)
          while ((await record(threadId)).archive !== undefined) await pause(10)
          back.push(performance.now() - startedAt)
          processor.push((await processorMs()) - before)
        }
        const medians = [plain, opened, answering, back, processor].map((times) => quantile(times, 0.5).toFixed(0))
        rows.push([`${entries} entries of ${words} words, ${name}`, ...medians])
      }
    }
  } finally {
    await close()
    await database.close()
  }
  context.log(`\n### Opening an archived thread (milliseconds, medians of ${rounds}; goal: answered within a second)\n`)
  context.log(table(['', 'not archived', 'answered', 'processor time', 'back', 'processor time'], rows))

  async function plant(threadId: string, entries: number, words: number): Promise<void> {
    const { checkpoints } = collections
    for (let start = 0; start < entries; start += insertedAtOnce) {
      const some = Array.from({ length: insertedAtOnce }, (_, index) => entryOf(threadId, start + index + 1, words))
      await checkpoints.insertMany(some, { lean: true })
    }
    const last = await checkpoints.findOne({ thread_id: threadId, seq: entries }).lean<CheckpointRecord>().orFail()
    await collections.threads.updateOne(
      { _id: threadId },
      { $set: { last_seq: entries, last_entry_id: last._id, has_system: false } },
    )
  }
}

function entryOf(threadId: string, seq: number, words: number): CheckpointRecord {
  const content = Array.from({ length: words }, () => Math.random().toString(36).slice(2, 8)).join(' ')
  const messages = [{ type: 'HumanMessage', data: { id: newId(), content } }]
  return {
    _id: newId(),
    thread_id: threadId,
    seq,
    messages_json: JSON.stringify(messages),
    source: 'update',
    created_at: new Date(),
  }
}
