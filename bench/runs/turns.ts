import { readFile } from 'node:fs/promises'
import { Client as TemporalClient, Connection } from '@temporalio/client'
import { threadContract } from '../../domain/contracts/thread.ts'
import { type Client, createClient } from '../client.ts'
import type { BenchContext } from '../environment.ts'
import { quantile, table } from '../statistics.ts'
import { questions } from './settings.ts'
import { type Talk, bearer, newTalk, newThread, streamRun } from './talks.ts'

const turnsOf = { 'turn 5': 4, 'turn 500': 499 }
const shortTurn = () => 'word '.repeat(20)
/** 100 answers of about 4 KB, no two alike: tokens have to be counted to see whether the window of the model is full. */
const longTurn = (turn: number) => Array.from({ length: 700 }, (_, index) => `w${turn * 7919 + index}`).join(' ')
const longTurns = 100

/**
 * Whether the cost of a turn is independent of the length of the thread. Earlier turns are added as states, as
 * short as those of a run. Then the same for a conversation of about 450 KB.
 */
export async function benchTurns(context: BenchContext): Promise<void> {
  const client = createClient(context.url)
  const connection = await Connection.connect({ address: context.env['TEMPORAL_ADDRESS'] ?? '' })
  const temporal = new TemporalClient({ connection })
  const user = await newTalk(context, client)
  const times = new Map<string, { whole: number[]; written: number[]; events: number[] }>()
  const long = await threadOf(client, user, turnsOf['turn 500'], shortTurn)
  for (let index = 0; index < questions / 2; index++)
    for (const [name, turns] of Object.entries(turnsOf)) {
      const talk = name === 'turn 500' ? long : await threadOf(client, user, turns, shortTurn)
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
  const large = await threadOf(client, user, longTurns, longTurn)
  const first: number[] = []
  for (let index = 0; index <= questions / 2; index++) first.push((await streamRun(client, large)).first)
  context.log(`\n### A conversation of ${longTurns} answers of 4 KB: first words (milliseconds)\n`)
  const [counted = 0, ...remembered] = first
  context.log(
    table(
      ['its first question', 'later questions, median'],
      [[counted, quantile(remembered, 0.5)].map((ms) => ms.toFixed(0))],
    ),
  )
  await connection.close()
  await client.close()
}

async function threadOf(client: Client, user: Talk, turns: number, answerOf: (turn: number) => string): Promise<Talk> {
  const talk = await newThread(client, user)
  for (let turn = 0; turn < turns; turn++) {
    const values = [
      { type: 'human', content: 'Say something.' },
      { type: 'ai', content: answerOf(turn) },
    ]
    const headers = bearer(talk.token)
    await client.send(`/threads/${talk.threadId}/state`, { method: 'POST', headers, body: { values } })
  }
  return talk
}

/** Linux counts the bytes that a process has written, to files and sockets. */
async function writtenBytes({ servers }: BenchContext): Promise<number> {
  const io = await readFile(`/proc/${servers.database.pid}/io`, 'utf8')
  return Number(/wchar: (\d+)/.exec(io)?.[1])
}
