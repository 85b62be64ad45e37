import { readFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, createClient } from '../client.ts'
import type { BenchContext } from '../environment.ts'
import { newKnowledge } from '../knowledge/client.ts'
import { drive } from '../load.ts'
import { type Talk, newTalk, newThread, streamRun } from '../runs/talks.ts'
import { quantile, table } from '../statistics.ts'
import { type Costs, type Demand, limitOf, planOf, utilisation } from './plan.ts'

const roundMs = Number(process.env['BENCH_ROUND_SECONDS'] || 10) * 1000
const number = (name: string, fallback: number) => Number(process.env[name] || fallback)
const demand: Demand = {
  users: number('BENCH_USERS', 10_000),
  runsPerMinute: number('BENCH_RUNS_PER_MINUTE', 200),
  streamSeconds: number('BENCH_STREAM_SECONDS', 10),
  chunks: number('BENCH_CHUNKS', 50_000_000),
  dimensions: number('BENCH_DIMENSIONS', 1536),
  days: number('BENCH_DAYS', 30),
  searchesPerRun: number('BENCH_SEARCHES_PER_RUN', 1),
}

/**
 * Measures what a run, an open stream, a chunk and a search cost each process, computes from it how many of what a
 * demand needs, and compares the law behind it with this machine: at growing rates of runs, until it is full.
 */
export async function benchCapacity(context: BenchContext): Promise<void> {
  const client = createClient(context.url)
  const own = await newTalk(context, client)
  const talks = await Promise.all(Array.from({ length: 64 }, () => newThread(client, own)))
  const talkOf = (turn: number) => talks[turn % talks.length] ?? own
  await drive((slot) => streamRun(client, talkOf(slot)), { atOnce: 8, ms: roundMs / 2 })

  const run = await costOf(context, async () => {
    const { count } = await drive((slot) => streamRun(client, talkOf(slot)), { atOnce: 8, ms: roundMs })
    return count
  })
  const { chunk, search } = await knowledgeCosts(context)
  const costs: Costs = { run: served(run), chunk: served(chunk), search: served(search) }
  showCosts(context, costs)
  showPlan(context, costs)
  await showLaw(context, { client, talkOf, costOfRun: run })
  await client.close()
}

/** Milliseconds of processor time of one of what `work` counts, by process. */
async function costOf(context: BenchContext, work: () => Promise<number>): Promise<Record<string, number>> {
  const before = await processorOf(context)
  const count = await work()
  const after = await processorOf(context)
  return Object.fromEntries(
    Object.keys(before).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / count]),
  )
}

/** Milliseconds that each process has taken so far. */
async function processorOf({ servers, model, client }: BenchContext): Promise<Record<string, number>> {
  const all = Object.entries({ ...servers, model, client })
  return Object.fromEntries(await Promise.all(all.map(async ([name, one]) => [name, await one.processorMs()] as const)))
}

/** Without the processes that stand for others. */
function served(cost: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(cost).filter(([name]) => name !== 'model' && name !== 'client'))
}

async function knowledgeCosts(context: BenchContext) {
  const knowledge = await newKnowledge(context)
  const text = await readFile(path.join(import.meta.dirname, '../corpus/devils-dictionary.txt'))
  const upload = async (copies: number) => {
    const files = Array.from({ length: copies }, (_, copy) => ({
      name: `${copy}-${copies}.txt`,
      content: new Blob([text]),
    }))
    const { files: done } = await knowledge.upload(files)
    return done.reduce((sum, { metadata }) => sum + metadata.chunks, 0)
  }
  await upload(1)
  const chunk = await costOf(context, async () => {
    const chunks = await upload(10)
    // Indexes are written after the answer.
    await pause(5_000)
    return chunks
  })
  const body = JSON.stringify({ query: 'What is a bore?', limit: 5 })
  const ask = () =>
    knowledge.call('POST', `/assistants/${knowledge.assistantId}/files/search`, body, {
      'content-type': 'application/json',
    })
  const search = await costOf(context, async () => {
    const { count } = await drive(
      async () => {
        const startedAt = performance.now()
        await ask()
        const whole = performance.now() - startedAt
        return { first: whole, whole }
      },
      { atOnce: 4, ms: roundMs },
    )
    return count
  })
  return { chunk, search }
}

function showCosts({ log }: BenchContext, { run, chunk, search }: Costs): void {
  const names = Object.keys(run)
  const row = (name: string, cost: Record<string, number>) => [
    name,
    ...names.map((process) => (cost[process] ?? 0).toFixed(2)),
    sum(cost).toFixed(2),
  ]
  log('\n### Processor time (milliseconds)\n')
  log(table(['of', ...names, 'all'], [row('a run', run), row('a chunk', chunk), row('a search', search)]))
}

function showPlan({ log }: BenchContext, costs: Costs): void {
  const { users, runsPerMinute, chunks, days } = demand
  const { parts, first } = planOf(costs, demand)
  const text = (value: number | undefined, digits: number) => (value === undefined ? '' : value.toFixed(digits))
  log(
    `\n### ${users} users, ${runsPerMinute} runs a minute, ${chunks} chunks (taken in within ${days} days), processors used to ${100 * utilisation} %\n`,
  )
  log(
    table(
      ['part', 'cores', 'processes', 'memory beside its own (GiB)', 'disk (GiB)'],
      parts.map((part) => [
        part.name,
        part.cores.toFixed(2),
        text(part.processes, 0),
        text(part.memoryGiB, 1),
        text(part.diskGiB, 0),
      ]),
    ),
  )
  log(`\nOf what cannot be multiplied, ${first} is full first.`)
}

/**
 * The law: a machine is full when runs a second times the processor time of a run are the processors that it gives.
 * Other work on the machine takes its share, so each row tells how many processors there were.
 */
async function showLaw(
  context: BenchContext,
  { client, talkOf, costOfRun }: { client: Client; talkOf: (turn: number) => Talk; costOfRun: Record<string, number> },
): Promise<void> {
  const { log } = context
  const cores = cpus().length
  const limit = limitOf(costOfRun, cores)
  const rows: (string | number)[][] = []
  for (const share of [0.25, 0.5, 0.75, 1, 1.25]) {
    const rate = share * limit
    const before = await processorOf(context)
    const { count, seconds, times, failed } = await arrive(rate, (turn) => streamRun(client, talkOf(turn)))
    const given = (sum(await processorOf(context)) - sum(before)) / 1000 / seconds
    rows.push([
      `${(100 * share).toFixed(0)} %`,
      rate.toFixed(1),
      given.toFixed(2),
      limitOf(costOfRun, given).toFixed(1),
      (count / seconds).toFixed(1),
      quantile(times, 0.5).toFixed(0),
      quantile(times, 0.95).toFixed(0),
      failed,
    ])
  }
  log(
    `\n### The law: a run takes ${((1000 * cores) / limit).toFixed(1)} ms of processor time, model and client included; ${cores} idle cores are full at ${limit.toFixed(1)} runs a second\n`,
  )
  log(
    table(
      [
        'of that',
        'begun a second',
        'cores used',
        '… by the law for',
        'ended a second',
        'median (ms)',
        '95 %',
        'failed',
      ],
      rows,
    ),
  )
}

/** Begins so many a second, whether or not those before have ended, as users do. */
async function arrive(rate: number, once: (turn: number) => Promise<{ whole: number }>) {
  const times: number[] = []
  let failed = 0
  const open: Promise<void>[] = []
  const startedAt = performance.now()
  for (let turn = 0; performance.now() - startedAt < roundMs; turn++) {
    open.push(
      once(turn).then(
        ({ whole }) => void times.push(whole),
        () => void failed++,
      ),
    )
    await pause(Math.max(0, startedAt + ((turn + 1) * 1000) / rate - performance.now()))
  }
  await Promise.all(open)
  return { times, failed, count: times.length, seconds: (performance.now() - startedAt) / 1000 }
}

const sum = (values: Record<string, number>) => Object.values(values).reduce((all, value) => all + value, 0)
