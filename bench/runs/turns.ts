import { readFile } from 'node:fs/promises'
import { Client as TemporalClient, Connection } from '@temporalio/client'
import { threadContract } from '../../domain/contracts/thread.ts'
import type { BenchContext } from '../environment.ts'
import { quantile, table } from '../statistics.ts'
import { questions } from './settings.ts'
import { type Client, type Talk, bearer, createClient, newTalk, newThread, streamRun } from './talks.ts'

const turnsOf = { 'turn 5': 4, 'turn 500': 499 }

/**
 * Whether the cost of a turn is independent of the length of the thread. Earlier turns are added as states, as
 * short as those of a run.
 */
export async function benchTurns(context: BenchContext): Promise<void> {
  const client = createClient(context.url)
  const connection = await Connection.connect({ address: context.env['TEMPORAL_ADDRESS'] ?? '' })
  const temporal = new TemporalClient({ connection })
  const user = await newTalk(context, client)
  const times = new Map<string, { whole: number[]; written: number[]; events: number[] }>()
  const long = await threadOf(client, user, turnsOf['turn 500'])
  for (let index = 0; index < questions / 2; index++)
    for (const [name, turns] of Object.entries(turnsOf)) {
      const talk = name === 'turn 500' ? long : await threadOf(client, user, turns)
      const before = await writtenBytes(context)
      const { whole } = await streamRun(client, talk)
      const workflow = temporal.workflow.getHandle(threadContract.id({ threadId: talk.threadId }))
      await workflow.result()
      const of = times.get(name) ?? { whole: [], written: [], events: [] }
      times.set(name, of)
      if (index < 2) continue
      of.whole.push(whole)
      of.written.push((await writtenBytes(context)) - before)
      of.events.push((await workflow.describe()).historyLength)
    }
  const median = (name: string, member: 'whole' | 'written' | 'events') =>
    quantile(times.get(name)?.[member] ?? [], 0.5)
  const members = ['whole', 'written', 'events'] as const
  context.log('\n### Turn 500 beside turn 5, one run at a time (medians)\n')
  context.log(
    table(
      ['', 'milliseconds to the end', 'bytes that the database wrote', 'events of Temporal'],
      [
        ...Object.keys(turnsOf).map((name) => [name, ...members.map((member) => median(name, member).toFixed(0))]),
        ['ratio', ...members.map((member) => (median('turn 500', member) / median('turn 5', member)).toFixed(2))],
        ['goal', '1.2', '1.1', '1.0'],
      ],
    ),
  )
  await connection.close()
  await client.close()
}

async function threadOf(client: Client, user: Talk, turns: number): Promise<Talk> {
  const talk = await newThread(client, user)
  const values = [
    { type: 'human', content: 'Say something.' },
    { type: 'ai', content: 'word '.repeat(20) },
  ]
  for (let turn = 0; turn < turns; turn++)
    await client.send(`/threads/${talk.threadId}/state`, {
      method: 'POST',
      headers: bearer(talk.token),
      body: { values },
    })
  return talk
}

/** Linux counts the bytes that a process has written, to files and sockets. */
async function writtenBytes({ servers }: BenchContext): Promise<number> {
  const io = await readFile(`/proc/${servers.database.pid}/io`, 'utf8')
  return Number(/wchar: (\d+)/.exec(io)?.[1])
}
