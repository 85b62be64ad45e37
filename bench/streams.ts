import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { createClient } from './client.ts'
import type { BenchContext } from './environment.ts'
import type { MeasuredProcess } from './processes.ts'
import { type Talk, bearer, newTalk, newThread } from './runs/talks.ts'
import { quantile, table } from './statistics.ts'

const readers = Number(process.env['BENCH_STREAMS'] || 1000)
const runs = 5
const everyMs = 50
const words = Number(process.env['BENCH_ROUND_SECONDS'] || 10) * (1000 / everyMs)

interface Stream {
  path: string
  headers: Record<string, string>
}

interface Measured {
  processorMs: number
  memoryMiB: number
  /** Milliseconds from the model's sending of a word until a reader has it. */
  delays: number[]
}

/**
 * Many readers of a few runs, each of which gets twenty words a second from its model, beside a bare server that sends
 * the same number of events. The first words are left out, because the readers are still connecting.
 */
export async function benchStreams(context: BenchContext): Promise<void> {
  const own = createClient(context.url)
  const bare = await context.startProcess('bench/bare/http.ts')
  // Each run has a user of its own, because the streams of one user are limited.
  const users = await Promise.all(Array.from({ length: runs }, () => newTalk(context, own)))
  const start = async (user: Talk) => {
    const { threadId } = await newThread(own, user)
    const input = [{ type: 'human', content: `paced: ${words} ${everyMs}` }]
    const body = { thread_id: threadId, assistant_id: user.assistantId, input }
    const { text } = await own.send('/runs/', { method: 'POST', headers: bearer(user.token), body })
    const id = String((JSON.parse(text) as Record<string, unknown>)['run_id'])
    return { path: `/runs/${id}/stream?stream_mode=deltas`, headers: bearer(user.token) }
  }
  const ofRuns = async (count: number) =>
    measure(context.api, { origin: context.url, streams: await Promise.all(users.map(start)), count })
  await ofRuns(10)
  const without = await ofRuns(0)
  const service = await ofRuns(readers)
  const streams = [{ path: `/stream?words=${words}&ms=${everyMs}`, headers: {} }]
  const plain = await measure(bare, { origin: String(bare.ready['url']), streams, count: readers })

  context.log(
    `\n### ${readers} readers of ${runs} runs, ${1000 / everyMs} events a second, for ${(words * everyMs) / 1000} s\n`,
  )
  const row = (name: string, { processorMs, memoryMiB, delays }: Measured) => [
    name,
    (processorMs / 1000).toFixed(1),
    ((memoryMiB * 1024) / readers).toFixed(0),
    delays.length,
    quantile(delays, 0.5).toFixed(0),
    quantile(delays, 0.99).toFixed(0),
  ]
  const heads = ['', 'processor time (s)', 'KiB a reader (goal: 100)', 'words', 'delay: median (ms)', '99 % (goal: 10)']
  const ofReaders = { ...service, processorMs: service.processorMs - without.processorMs }
  context.log(table(heads, [row('service', service), row('… without the runs', ofReaders), row('bare', plain)]))
  context.log(
    `\nRatio of processor time, without the runs: ${(ofReaders.processorMs / plain.processorMs).toFixed(2)} (goal: 2.5)`,
  )
  await own.close()
  await bare.stop()
}

async function measure(
  server: MeasuredProcess,
  { origin, streams, count }: { origin: string; streams: Stream[]; count: number },
): Promise<Measured> {
  const pool = new Pool(origin, { connections: Math.max(1, count), headersTimeout: 0, bodyTimeout: 0 })
  const [processorBefore, memoryBefore] = [await server.processorMs(), await server.memoryMiB()]
  const delays: number[] = []
  const read = async ({ path, headers }: Stream) => {
    const answer = await pool.request({ path, method: 'GET', headers })
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`)
    answer.body.setEncoding('utf8')
    for await (const part of answer.body) {
      const now = Date.now()
      if (isSettled) for (const [, sent] of String(part).matchAll(/(\d{13}) "/g)) delays.push(now - Number(sent))
    }
  }
  let isSettled = false
  const readersOf = Array.from({ length: count }, (_, reader) => streams[reader % streams.length])
  const reading = readersOf.flatMap((stream) => (stream ? [read(stream)] : []))
  const allMs = words * everyMs
  await Promise.race([pause(allMs / 2), Promise.all([...reading, pause(allMs)])])
  isSettled = true
  const memoryMiB = (await server.memoryMiB()) - memoryBefore
  await Promise.all([...reading, pause(allMs / 2 + 1000)])
  const processorMs = (await server.processorMs()) - processorBefore
  await pool.close()
  return { processorMs, memoryMiB, delays }
}
