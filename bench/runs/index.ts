import type { BenchContext } from '../environment.ts'
import type { Load } from '../load.ts'
import type { MeasuredProcess } from '../processes.ts'
import { quantile, table } from '../statistics.ts'
import { type Contender, startContenders } from './contenders.ts'
import { atOnceOf, questions, roundMs, rounds } from './settings.ts'
import { complete, newTalk, newThread, streamRun } from './talks.ts'

/**
 * The cost of a durable run compared with the same answer through a gateway that stores nothing, and with the
 * minimum that Temporal needs for a durable answer. The rounds alternate, so that a slow machine affects all of
 * them; each begins with new threads.
 */
export async function benchRuns(context: BenchContext): Promise<void> {
  const started = await startContenders(context)
  const { contenders } = started
  context.log(`\nTopology: ${context.env['RUNS_IN_API'] === 'true' ? 'steps in the API process' : 'steps in workers'}.`)
  const memory = await memoryOf(context)
  for (const contender of contenders) await (await contender.prepare({ atOnce: 4, ms: 1500 }))()
  await benchFirstWords(context, started)

  const taken: Taken[] = []
  for (const atOnce of atOnceOf)
    for (let round = 0; round < rounds; round++)
      for (const contender of contenders) taken.push(await take(contender, atOnce))
  for (const { name, atOnce, load } of taken)
    if (load.failed > 0) context.log(`\n${name}, ${atOnce} at once: ${load.failed} failed. The first: ${load.failure}`)
  showRates(context, contenders, taken)
  showProcessorTime(context, contenders, taken)
  const atEnd = await memoryOf(context)
  context.log('\n### Resident memory (MiB)\n')
  const names = Object.keys(memory)
  context.log(
    table(
      ['', ...names],
      [
        ['at the start', ...names.map((name) => memory[name] ?? '')],
        ['at the end', ...names.map((name) => atEnd[name] ?? '')],
      ],
    ),
  )
  await started.close()
}

interface Taken {
  name: string
  atOnce: number
  load: Load
  /** Milliseconds of processor time for each answer, by process. */
  processor: Record<string, number>
}

async function take(contender: Contender, atOnce: number): Promise<Taken> {
  const run = await contender.prepare({ atOnce, ms: roundMs })
  const before = await processorOf(contender.processes)
  const load = await run()
  const after = await processorOf(contender.processes)
  const processor = Object.fromEntries(
    Object.keys(before).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / load.count]),
  )
  return { name: contender.name, atOnce, load, processor }
}

async function processorOf(processes: Record<string, MeasuredProcess>): Promise<Record<string, number>> {
  const all = Object.entries(processes).map(async ([name, one]) => [name, await one.processorMs()] as const)
  return Object.fromEntries(await Promise.all(all))
}

/** The first words, one question at a time, beside those of the model itself. */
async function benchFirstWords(
  context: BenchContext,
  { client, gatewayClient, gatewayKey, publicToken }: Awaited<ReturnType<typeof startContenders>>,
): Promise<void> {
  const times: Record<string, { first: number[]; whole: number[] }> = {}
  const note = (name: string, { first, whole }: { first: number; whole: number }) => {
    const of = (times[name] ??= { first: [], whole: [] })
    of.first.push(first)
    of.whole.push(whole)
  }
  const user = await newTalk(context, client)
  const talks = await Promise.all(Array.from({ length: 4 }, () => newThread(client, user)))
  for (let index = 0; index < questions; index++) {
    const talk = talks[index % talks.length] ?? user
    note('the model itself', await context.askModel())
    if (gatewayClient)
      note('LiteLLM', await complete(gatewayClient, '/v1/chat/completions', { token: gatewayKey, stream: true }))
    note('/runs/stream', await streamRun(client, talk))
    note(
      'chat/completions',
      await complete(client, '/public/v1/chat/completions', { token: publicToken, stream: true }),
    )
    note('/runs/stream, the same thread at once', await streamRun(client, user))
    note('/runs/stream, the same thread at once', await streamRun(client, user))
  }
  const own = times['the model itself']?.first ?? []
  context.log('\n### First words, one question at a time (milliseconds)\n')
  context.log(
    table(
      ['', 'median', '99 %', 'added: median', 'added: 99 %', 'to the end: median'],
      Object.entries(times).map(([name, { first, whole }]) => [
        name,
        ms(quantile(first, 0.5)),
        ms(quantile(first, 0.99)),
        ms(quantile(first, 0.5) - quantile(own, 0.5)),
        ms(quantile(first, 0.99) - quantile(own, 0.5)),
        ms(quantile(whole, 0.5)),
      ]),
    ),
  )
}

function showRates(context: BenchContext, contenders: Contender[], taken: Taken[]): void {
  const rateOf = (name: string, atOnce: number) =>
    quantile(
      taken.filter((one) => one.name === name && one.atOnce === atOnce).map(({ load }) => load.perSecond),
      0.5,
    )
  const firstOf = (name: string, atOnce: number, share: number) =>
    quantile(
      taken.filter((one) => one.name === name && one.atOnce === atOnce).flatMap(({ load }) => load.first),
      share,
    )
  context.log(`\n### Answers a second, median of ${rounds} rounds of ${roundMs / 1000} s\n`)
  context.log(
    table(
      ['at once', ...atOnceOf.map(String)],
      contenders.map(({ name }) => [name, ...atOnceOf.map((atOnce) => rateOf(name, atOnce).toFixed(1))]),
    ),
  )
  context.log('\n### First words under load: median and 99 % (milliseconds)\n')
  context.log(
    table(
      ['at once', ...atOnceOf.map(String)],
      contenders.map(({ name }) => [
        name,
        ...atOnceOf.map((atOnce) => `${ms(firstOf(name, atOnce, 0.5))}, ${ms(firstOf(name, atOnce, 0.99))}`),
      ]),
    ),
  )
  const ratios: [string, string, string][] = [
    ['/runs/stream', 'LiteLLM, streamed', '2.0, aim 3.0'],
    ['chat/completions, streamed', 'LiteLLM, streamed', '2.0, aim 3.0'],
    ['chat/completions, unstreamed', 'LiteLLM, unstreamed', '0.6, 0.8, 0.8'],
    ['/runs/stream', 'bare workflow', '0.6 at 16, aim 0.8'],
  ]
  context.log('\n### Ratios\n')
  context.log(
    table(
      ['at once', ...atOnceOf.map(String), 'goal'],
      ratios.map(([one, other, goal]) => [
        `${one} ÷ ${other}`,
        ...atOnceOf.map((atOnce) => (rateOf(one, atOnce) / rateOf(other, atOnce)).toFixed(2)),
        goal,
      ]),
    ),
  )
}

function showProcessorTime(context: BenchContext, contenders: Contender[], taken: Taken[]): void {
  for (const atOnce of atOnceOf) {
    const names = [...new Set(contenders.flatMap(({ processes }) => Object.keys(processes)))]
    context.log(`\n### Processor time of one answer, ${atOnce} at once (milliseconds)\n`)
    context.log(
      table(
        ['', ...names, 'all but model and client'],
        contenders.map(({ name }) => {
          const own = taken.filter((one) => one.name === name && one.atOnce === atOnce)
          const of = (process: string) =>
            quantile(
              own.flatMap(({ processor }) => processor[process] ?? []),
              0.5,
            )
          const served = names.filter((process) => process !== 'model' && process !== 'client')
          const known = served.map(of).filter((value) => !Number.isNaN(value))
          return [
            name,
            ...names.map((process) => (Number.isNaN(of(process)) ? '' : of(process).toFixed(1))),
            known.reduce((sum, value) => sum + value, 0).toFixed(1),
          ]
        }),
      ),
    )
  }
}

async function memoryOf({ servers }: BenchContext): Promise<Record<string, number>> {
  const all = Object.entries(servers).map(async ([name, one]) => [name, Math.round(await one.memoryMiB())] as const)
  return Object.fromEntries(await Promise.all(all))
}

const ms = (value: number) => value.toFixed(1)
