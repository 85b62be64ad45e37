import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { mongo } from 'mongoose'
import { type ChunkGroupRecord, chunkId, chunksInGroup, toGroups } from '../../domain/records/chunk-group.ts'
import { createLanceStore } from '../../infra/vectors/lancedb.ts'
import type { BenchContext } from '../environment.ts'
import { newKnowledge } from '../knowledge/client.ts'
import { quantile, table } from '../statistics.ts'
import { newUser } from './user.ts'

const chunkCount = 50_000
const group = 512

/**
 * An assistant with 50,000 chunks is deleted through the API while another user's requests go on. One
 * small file is uploaded; the other chunks and vectors are stored as the ingestion stores them, which
 * takes less time and leaves the same.
 */
export async function benchDeletion(context: BenchContext): Promise<void> {
  const client = await newKnowledge(context)
  const begun = performance.now()
  const { files } = await client.upload([{ name: 'log.txt', content: new Blob(['The log of the harbour.']) }])
  await plant(context, client.assistantId, files[0]?.id ?? '')
  const plantingSeconds = (performance.now() - begun) / 1000

  const bystander = await newUser(context)
  const { thread_id: threadId } = await bystander.call('POST', '/threads/', {})
  const rounds = {
    'GET /threads/{tid}': () => bystander.call('GET', `/threads/${String(threadId)}`),
    'GET /threads/': () => bystander.call('GET', '/threads/'),
    'POST /threads/': () => bystander.call('POST', '/threads/', {}),
  }
  for (let warmUp = 0; warmUp < 20; warmUp++) for (const work of Object.values(rounds)) await work()
  const idle = await timesOf(rounds, () => pause(5_000))
  const processorBefore = await context.database.processorMs()
  let seconds = 0
  const meanwhile = await timesOf(rounds, async () => {
    const startedAt = performance.now()
    await client.call('DELETE', `/assistants/${client.assistantId}`)
    seconds = (performance.now() - startedAt) / 1000
  })
  const processorSeconds = ((await context.database.processorMs()) - processorBefore) / 1000
  context.log(`\n### Deletion of an assistant with ${chunkCount} chunks (stored in ${plantingSeconds.toFixed(0)} s)\n`)
  context.log(
    `${seconds.toFixed(1)} s (goal: 5). Processor time of the database meanwhile: ${processorSeconds.toFixed(1)} s, the bystander's requests included.\n`,
  )
  const ms = (value: number) => value.toFixed(0)
  context.log(
    table(
      [
        "a bystander's request (milliseconds)",
        'idle: median',
        'idle: longest',
        'meanwhile: median',
        'meanwhile: longest',
      ],
      Object.keys(rounds).map((name) => {
        const [before = [], during = []] = [idle[name], meanwhile[name]]
        return [
          name,
          ms(quantile(before, 0.5)),
          ms(Math.max(...before)),
          ms(quantile(during, 0.5)),
          ms(Math.max(...during)),
        ]
      }),
    ),
  )
  context.log('\nGoal: none over 300 ms.')
}

async function plant(context: BenchContext, assistantId: string, fileId: string): Promise<void> {
  const client = new mongo.MongoClient(context.env['MONGODB_URI'] ?? '')
  const vectors = createLanceStore(join(context.env['DATA_DIR'] ?? '', 'lancedb'))
  try {
    const chunks = client.db().collection<ChunkGroupRecord>('chunks')
    // The chunk of the uploaded file has the first group for itself.
    for (let start = chunksInGroup; start < chunkCount; start += group) {
      const length = Math.min(group, chunkCount - start)
      const texts = Array.from({ length }, (_, index) => textOf(start + index))
      const members = texts.map((text) => ({ text, tokens: 300 }))
      await chunks.insertMany(toGroups({ _id: fileId, assistant_id: assistantId }, start, members))
      const records = texts.map((text, index) => {
        const position = start + index
        return { id: chunkId(fileId, position), fileId, position, text, vector: vectorOf(position) }
      })
      await vectors.upsert(assistantId, records, { areNew: true })
    }
    await vectors.finalize(assistantId, fileId)
  } finally {
    await vectors.close()
    await client.close()
  }
}

const textOf = (position: number) =>
  `Entry ${position}: the wind is from the west, the tide is ${position % 12} feet. `.repeat(15)

const vectorOf = (position: number) => Array.from({ length: 256 }, (_, index) => Math.sin(position + index))

/** How long each kind of request takes, one after the other, until `work` is done. */
async function timesOf(
  rounds: Record<string, () => Promise<unknown>>,
  work: () => Promise<unknown>,
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {}
  let isOver = false
  const going = (async () => {
    while (!isOver) {
      for (const [name, request] of Object.entries(rounds)) {
        const startedAt = performance.now()
        await request()
        ;(times[name] ??= []).push(performance.now() - startedAt)
      }
      await pause(10)
    }
  })()
  await work()
  isOver = true
  await going
  return times
}
