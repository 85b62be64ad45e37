import { reasonOf } from '../../domain/reason-of.ts'
import { within } from '../../services/within.ts'
import type { RedisAddress, ServerAddress } from './address.ts'
import { hashSlot, slotCount } from './hash-slot.ts'
import type { RedisClient, RedisNode } from './node.ts'

/** A primary and the slots that it has. */
export interface Shard {
  at: ServerAddress
  slots: { from: number; to: number }[]
}

/** Which server has which keys. Only a cluster has more than one slot. */
export interface Topology {
  slotCount: number
  slotOf(key: string): number
  /** The primaries now; `known` are those of before. Throws if no server can say. */
  find(known: RedisNode[]): Promise<Shard[]>
  /** Whether messages of a channel stay within the shard of its slot. */
  isSharded: boolean
  /** Whether a server that is no longer the primary may answer as before. */
  changesUnnoticed: boolean
}

/** Asks a server by a connection of its own, which is closed afterwards. */
type Ask = <T>(at: ServerAddress, question: (client: RedisClient) => Promise<T>) => Promise<T>

/** A wrong address or name, which no repetition changes. */
export class WrongRedisError extends Error {}

/** How long one server may take to say who has which slots. */
const answerLimitMs = 1000

export function topologyOf(address: RedisAddress, ask: Ask): Topology {
  const whole = [{ from: 0, to: 0 }]
  const one = { slotCount: 1, slotOf: () => 0, isSharded: false, changesUnnoticed: false }
  const [first] = address.servers
  switch (address.kind) {
    case 'single':
      return { ...one, find: async () => (first ? [{ at: first, slots: whole }] : []) }
    case 'sentinel':
      return { ...one, find: async () => [{ at: await primaryOf(address, ask), slots: whole }], changesUnnoticed: true }
    case 'cluster':
      return {
        slotCount,
        slotOf: hashSlot,
        isSharded: true,
        changesUnnoticed: false,
        find: (known) => shardsOf(address.servers, known, ask),
      }
  }
}

/** https://redis.io/docs/latest/develop/reference/sentinel-clients/ */
async function primaryOf({ servers, name }: RedisAddress, ask: Ask): Promise<ServerAddress> {
  return firstAnswer(
    inAnyOrder(servers).map((at) => async () => {
      const reply: unknown = await ask(at, (client) =>
        client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]),
      ).catch((error: unknown) => {
        throw /unknown command/i.test(reasonOf(error)) ? new WrongRedisError(`${nameOf(at)} is no Sentinel`) : error
      })
      const [host, port]: unknown[] = Array.isArray(reply) ? Array.from<unknown>(reply) : []
      if (typeof host === 'string' && typeof port === 'string') return { host, port: Number(port) }
      throw new WrongRedisError(`the Sentinel at ${nameOf(at)} knows no primary of that name`)
    }),
  )
}

async function shardsOf(seeds: ServerAddress[], known: RedisNode[], ask: Ask): Promise<Shard[]> {
  const ready = known.filter(({ commands }) => commands.isReady)
  return firstAnswer([
    ...inAnyOrder(ready).map(
      ({ at, commands }) =>
        () =>
          slotsBy(at, commands),
    ),
    ...inAnyOrder([...seeds, ...known.map(({ at }) => at)]).map((at) => () => ask(at, (client) => slotsBy(at, client))),
  ])
}

async function slotsBy(asked: ServerAddress, client: RedisClient): Promise<Shard[]> {
  const slots = await client.clusterSlots().catch((error: unknown) => {
    const isNone = /cluster support disabled/.test(reasonOf(error))
    throw isNone ? new WrongRedisError(`${nameOf(asked)} is not part of a cluster`) : error
  })
  const shards = new Map<string, Shard>()
  for (const { from, to, master } of slots) {
    // Without a host of its own, a node has that under which it was asked.
    const at = { host: master.host || asked.host, port: master.port }
    const shard = shards.get(nameOf(at)) ?? { at, slots: [] }
    shard.slots.push({ from, to })
    shards.set(nameOf(at), shard)
  }
  if (shards.size === 0) throw new Error(`no node of the cluster at ${nameOf(asked)} has slots`)
  return [...shards.values()]
}

/** Tries one after the other. If no server answers, the error of one that is wrong counts most. */
async function firstAnswer<T>(attempts: (() => Promise<T>)[]): Promise<T> {
  let problem: unknown
  for (const attempt of attempts) {
    try {
      const answered = await within(
        answerLimitMs,
        attempt().then((value) => ({ value })),
      )
      if (answered !== undefined) return answered.value
      problem ??= new Error('no answer in time')
    } catch (error) {
      if (!(problem instanceof WrongRedisError)) problem = error
    }
  }
  throw problem
}

/** So that no server is asked by all processes. */
function inAnyOrder<T>(list: T[]): T[] {
  const start = Math.floor(Math.random() * list.length)
  return [...list.slice(start), ...list.slice(0, start)]
}

export const nameOf = ({ host, port }: ServerAddress) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
