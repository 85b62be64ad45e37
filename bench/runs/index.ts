import { Client, Connection } from '@temporalio/client'
import type { BenchContext } from './environment.ts'
import { quantile, rate, table } from './statistics.ts'

interface Talk {
  token: string
  assistant_id: string
  thread_id: string
}

/**
 * What the service adds to a model: time to the first `data` event beside the bare model's own first
 * byte, completed runs a second beside empty workflows on the same Temporal server, and memory. The
 * measurements alternate, so that a machine that slows down slows all of them.
 */
export async function benchRuns(context: BenchContext): Promise<void> {
  const empty = await context.startProcess('bench/empty/worker.ts')
  const connection = await Connection.connect({ address: context.env['TEMPORAL_ADDRESS'] ?? '' })
  const client = new Client({ connection })
  const runEmpty = async () => {
    await client.workflow.execute('emptyWorkflow', { taskQueue: 'bench-empty', workflowId: crypto.randomUUID() })
  }
  const memoryAtStart = await memoryOf(context)

  const talk = await newTalk(context)
  for (let index = 0; index < 10; index++)
    await Promise.all([streamRun(context, talk), runEmpty(), modelFirstByte(context)])

  const first: number[] = []
  const bare: number[] = []
  const whole: number[] = []
  for (let index = 0; index < 60; index++) {
    bare.push(await modelFirstByte(context))
    const timing = await streamRun(context, talk)
    first.push(timing.firstData)
    whole.push(timing.end)
  }
  context.log('\n### Time to the first `data` event, one run at a time (milliseconds)\n')
  context.log(
    table(
      ['', 'median', '95 %'],
      [
        ['model alone, to its first byte', ms(quantile(bare, 0.5)), ms(quantile(bare, 0.95))],
        ['/runs/stream, to the first data event', ms(quantile(first, 0.5)), ms(quantile(first, 0.95))],
        [
          'added by the service',
          ms(quantile(first, 0.5) - quantile(bare, 0.5)),
          ms(quantile(first, 0.95) - quantile(bare, 0.95)),
        ],
        ['/runs/stream, to the end event', ms(quantile(whole, 0.5)), ms(quantile(whole, 0.95))],
      ],
    ),
  )

  const rows: (string | number)[][] = []
  for (const atOnce of [1, 16, 64]) {
    const talks = await Promise.all(Array.from({ length: atOnce }, () => newTalk(context)))
    const count = atOnce === 1 ? 60 : atOnce * 8
    const rounds: { runs: number; empties: number }[] = []
    for (let round = 0; round < 2; round++) {
      const empties = await rate(count, atOnce, runEmpty)
      const turn = Array.from({ length: atOnce }, (_, index) => index)
      const runs = await rate(count, atOnce, async () => {
        const mine = turn.shift() ?? 0
        const talkOfMine = talks[mine]
        if (talkOfMine !== undefined) await streamRun(context, talkOfMine)
        turn.push(mine)
      })
      rounds.push({ runs, empties })
    }
    const best = (member: 'runs' | 'empties') => Math.max(...rounds.map((round) => round[member]))
    rows.push([
      atOnce,
      best('runs').toFixed(1),
      best('empties').toFixed(1),
      (best('runs') / best('empties')).toFixed(2),
    ])
  }
  context.log('\n### Completed runs a second, streamed to their end, beside empty one-activity workflows\n')
  context.log(table(['at once', 'runs/s', 'empty workflows/s', 'ratio'], rows))

  const memoryAtEnd = await memoryOf(context)
  context.log('\n### Resident memory (MiB)\n')
  context.log(
    table(
      ['', 'at the start', 'at the end'],
      [
        ['API', memoryAtStart.api, memoryAtEnd.api],
        ['worker', memoryAtStart.worker, memoryAtEnd.worker],
      ],
    ),
  )
  await connection.close()
  await empty.stop()
}

async function newTalk(context: BenchContext): Promise<Talk> {
  const token = await context.newToken()
  const assistant = await post(context, token, '/assistants/', { name: 'Bench' })
  const thread = await post(context, token, '/threads/', { name: 'Bench' })
  return { token, assistant_id: String(assistant['assistant_id']), thread_id: String(thread['thread_id']) }
}

async function post(
  context: BenchContext,
  token: string,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${context.url}${path}`, {
    method: 'POST',
    headers: headers(token),
    body: JSON.stringify(body),
  })
  const value: unknown = await response.json()
  if (!response.ok || typeof value !== 'object' || value === null)
    throw new Error(`POST ${path} answered ${response.status}`)
  return { ...value }
}

/** One run, streamed to its end; milliseconds from the request to the first `data` event and to `end`. */
async function streamRun(context: BenchContext, { token, ...ids }: Talk): Promise<{ firstData: number; end: number }> {
  const startedAt = performance.now()
  const response = await fetch(`${context.url}/runs/stream`, {
    method: 'POST',
    headers: headers(token),
    body: JSON.stringify({ ...ids, input: [{ type: 'human', content: 'Say something.' }] }),
  })
  if (response.body === null || !response.ok) throw new Error(`/runs/stream answered ${response.status}`)
  let text = ''
  let firstData: number | undefined
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part
    if (firstData === undefined && text.includes('event: data')) firstData = performance.now() - startedAt
  }
  if (firstData === undefined || !text.includes('event: end'))
    throw new Error(`a run did not end well: ${text.slice(-300)}`)
  return { firstData, end: performance.now() - startedAt }
}

async function modelFirstByte(context: BenchContext): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(`${context.modelUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"stream":true}',
  })
  const reader = response.body?.getReader()
  await reader?.read()
  const elapsed = performance.now() - startedAt
  await reader?.cancel()
  return elapsed
}

async function memoryOf({ api, worker }: BenchContext) {
  const [ofApi, ofWorker] = await Promise.all([api.memoryMiB(), worker.memoryMiB()])
  return { api: Math.round(ofApi), worker: Math.round(ofWorker) }
}

const headers = (token: string) => ({ 'content-type': 'application/json', authorization: `Bearer ${token}` })
const ms = (value: number) => value.toFixed(1)
