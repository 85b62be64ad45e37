import { createClient } from '../client.ts'
import type { BenchContext } from '../environment.ts'
import type { Load } from '../load.ts'
import { quantile, table } from '../statistics.ts'
import { questions } from './settings.ts'
import { newTalk, newThread, streamRun } from './talks.ts'

const toolsOfRun = 3

/** What one more step of the model with a tool costs, beside one more local and one more regular activity. */
export async function benchSteps(context: BenchContext): Promise<void> {
  const client = createClient(context.url)
  const bare = await context.startProcess('bench/bare/temporal.ts')
  const bareClient = createClient(String(bare.ready['url']))
  const user = await newTalk(context, client, { 'type==agent/tools': [{ type: 'http_request' }] })
  const times = new Map<string, number[]>()
  const note = (name: string, ms: number) => times.set(name, [...(times.get(name) ?? []), ms])
  const run = async (tools: number) => (await streamRun(client, await newThread(client, user), `tools: ${tools}`)).whole
  const bareRun = async (tools: number) => {
    const { text } = await bareClient.send(`/?at_once=1&ms=1&tools=${tools}`)
    return (JSON.parse(text) as Load).whole[0] ?? Number.NaN
  }
  for (let index = 0; index < questions; index++) {
    const isWarm = index >= Math.min(5, questions / 4)
    for (const tools of [0, toolsOfRun]) {
      const [mine, other] = [await run(tools), await bareRun(tools)]
      if (!isWarm) continue
      note(`run ${tools}`, mine)
      note(`bare ${tools}`, other)
    }
  }
  const median = (name: string) => quantile(times.get(name) ?? [], 0.5)
  const extra = (name: string) => (median(`${name} ${toolsOfRun}`) - median(`${name} 0`)) / toolsOfRun
  context.log('\n### One more step with a tool, one run at a time (milliseconds, medians)\n')
  context.log(
    table(
      ['', 'without tools', `with ${toolsOfRun} tools`, 'one more'],
      ['run', 'bare'].map((name) => [
        name === 'run' ? '/runs/stream' : 'bare workflow',
        median(`${name} 0`).toFixed(1),
        median(`${name} ${toolsOfRun}`).toFixed(1),
        extra(name).toFixed(1),
      ]),
    ),
  )
  context.log(`\nRatio of one more: ${(extra('run') / extra('bare')).toFixed(2)} (goal: 1.8)`)
  await Promise.all([client.close(), bareClient.close()])
  await bare.stop()
}
