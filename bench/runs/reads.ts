import { type Client, createClient } from '../client.ts'
import type { BenchContext } from '../environment.ts'
import { drive } from '../load.ts'
import { quantile, table } from '../statistics.ts'
import { roundMs, rounds } from './settings.ts'
import { bearer, newTalk } from './talks.ts'

const atOnce = 16

/** What the service adds to a plain read: `GET /ok` and `GET /threads/{tid}` beside a bare Fastify. */
export async function benchReads(context: BenchContext): Promise<void> {
  const own = createClient(context.url)
  const bare = await context.startProcess('bench/bare/http.ts')
  const bareClient = createClient(String(bare.ready['url']))
  const { token, threadId } = await newTalk(context, own)
  const read = (client: Client, path: string) => () => client.send(path, { headers: bearer(token) })
  const pairs = [
    { path: '/ok', goal: '0.9' },
    { path: `/threads/${threadId}`, goal: '0.8' },
  ].map(({ path, goal }) => ({
    name: `GET ${path.replace(threadId, '{tid}')}`,
    goal,
    contenders: [
      { once: read(own, path), process: context.api, rates: new Array<number>(), processor: new Array<number>() },
      { once: read(bareClient, path), process: bare, rates: new Array<number>(), processor: new Array<number>() },
    ],
  }))
  for (const { contenders } of pairs) for (const { once } of contenders) await drive(once, { atOnce, ms: 1500 })
  for (let round = 0; round < rounds; round++)
    for (const { contenders } of pairs)
      for (const { once, process, rates, processor } of contenders) {
        const before = await process.processorMs()
        const load = await drive(once, { atOnce, ms: roundMs })
        rates.push(load.perSecond)
        processor.push(((await process.processorMs()) - before) / load.count)
      }
  context.log(`\n### Reads a second, ${atOnce} at once, and processor time of the process for each (milliseconds)\n`)
  context.log(
    table(
      ['', 'service', 'bare', 'ratio', 'goal', 'service: processor', 'bare: processor'],
      pairs.map(({ name, goal, contenders }) => {
        const [mine = Number.NaN, other = Number.NaN] = contenders.map(({ rates }) => quantile(rates, 0.5))
        const [myTime = Number.NaN, otherTime = Number.NaN] = contenders.map(({ processor }) =>
          quantile(processor, 0.5),
        )
        return [
          name,
          mine.toFixed(0),
          other.toFixed(0),
          (mine / other).toFixed(2),
          goal,
          myTime.toFixed(2),
          otherTime.toFixed(2),
        ]
      }),
    ),
  )
  await Promise.all([own.close(), bareClient.close()])
  await bare.stop()
}
