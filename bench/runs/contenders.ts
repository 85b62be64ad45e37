import { randomBytes } from 'node:crypto'
import { type Client, createClient } from '../client.ts'
import type { BenchContext } from '../environment.ts'
import { startGateway } from '../gateway.ts'
import { type Load, drive } from '../load.ts'
import type { MeasuredProcess } from '../processes.ts'
import { complete, newTalk, newThread, streamRun } from './talks.ts'

/** One way to get an answer from the bare model, or the baseline of one. */
export interface Contender {
  name: string
  /** Whose processor time it takes. */
  processes: Record<string, MeasuredProcess>
  /** Creates empty threads, and returns a function that sends requests on them for `ms` milliseconds. */
  prepare(load: { atOnce: number; ms: number }): Promise<() => Promise<Load>>
}

/**
 * A client may send the next message as soon as an answer has ended, but people take longer, so the next question
 * goes to another thread.
 */
const threadsOfSlot = 3

export async function startContenders(context: BenchContext) {
  const own = createClient(context.url)
  const bare = await context.startProcess('bench/bare/temporal.ts')
  const bareClient = createClient(String(bare.ready['url']))
  const gateway = await startGateway(context.modelUrl, context.log)
  const gatewayClient = gateway && createClient(gateway.url)
  const publicToken = `bench-${randomBytes(12).toString('hex')}`
  await newTalk(context, own, { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': publicToken })

  const ofService = { ...context.servers, model: context.model, client: context.client }
  const completions = (name: string, stream: boolean): Contender => ({
    name,
    processes: ofService,
    prepare: async (load) => () =>
      drive(() => complete(own, '/public/v1/chat/completions', { token: publicToken, stream }), load),
  })
  const throughGateway = (name: string, stream: boolean): Contender[] =>
    gateway && gatewayClient
      ? [
          {
            name,
            processes: { LiteLLM: gateway.process, model: context.model, client: context.client },
            prepare: async (load) => () =>
              drive(() => complete(gatewayClient, '/v1/chat/completions', { token: gateway.key, stream }), load),
          },
        ]
      : []
  const contenders: Contender[] = [
    ...throughGateway('LiteLLM, streamed', true),
    { name: '/runs/stream', processes: ofService, prepare: (load) => prepareRuns(context, own, load) },
    completions('chat/completions, streamed', true),
    ...throughGateway('LiteLLM, unstreamed', false),
    completions('chat/completions, unstreamed', false),
    {
      name: 'bare workflow',
      processes: { bare, Temporal: context.servers.Temporal },
      prepare:
        async ({ atOnce, ms }) =>
        async () => {
          const { text } = await bareClient.send(`/?at_once=${atOnce}&ms=${ms}&tools=0`)
          return JSON.parse(text) as Load
        },
    },
  ]
  return {
    contenders,
    client: own,
    bareClient,
    gatewayClient,
    gatewayKey: gateway?.key ?? '',
    publicToken,
    close: async () => {
      await Promise.all([own.close(), bareClient.close(), gatewayClient?.close()])
      await gateway?.stop()
      await bare.stop()
    },
  }
}

async function prepareRuns(context: BenchContext, client: Client, load: { atOnce: number; ms: number }) {
  const slots = await Promise.all(
    Array.from({ length: load.atOnce }, async () => {
      const first = await newTalk(context, client)
      const more = Array.from({ length: threadsOfSlot - 1 }, () => newThread(client, first))
      return [first, ...(await Promise.all(more))]
    }),
  )
  const once = async (slot: number) => {
    const [talk, ...others] = slots[slot] ?? []
    if (talk === undefined) throw new Error('a slot has no thread')
    slots[slot] = [...others, talk]
    return streamRun(client, talk)
  }
  return () => drive(once, load)
}
