import { setTimeout as pause } from 'node:timers/promises'
import { reasonOf } from '../../domain/reason-of.ts'
import { within } from '../../services/within.ts'
import type { RedisAddress, ServerAddress } from './address.ts'
import { type ConnectionOptions, type RedisClient, type RedisNode, createNode } from './node.ts'

export type RedisServers = ReturnType<typeof createServers>

/** How often it looks whether connections are open. */
const pollEveryMs = 50

/**
 * The primaries, and which of them has which slot. It asks anew when a server says that a slot is elsewhere,
 * repeatedly while a connection is lost, and always where a change may go unnoticed. `onMoved` is called when slots may
 * have another owner.
 */
export function createServers(topology: Topology, options: ConnectionOptions, onMoved: () => void) {
  const nodes = new Map<string, RedisNode>()
  const owners: (RedisNode | undefined)[] = Array.from({ length: topology.slotCount })
  let refreshing: Promise<void> | undefined
  /** A server has said something that does not agree with what is known. */
  let isDoubtful = false
  let isClosed = false
  let askedAt = 0

  const watching = setInterval(() => {
    const isOld = topology.changesUnnoticed && performance.now() - askedAt > options.timeoutMs
    if (isDoubtful || isOld || !isWhole()) refresh().catch(options.onError)
  }, options.timeoutMs / 8).unref()

  function nodeAt(at: ServerAddress): RedisNode {
    const known = nodes.get(nameOf(at))
    if (known !== undefined) return known
    const node = createNode(at, options)
    nodes.set(nameOf(at), node)
    return node
  }

  const primaries = (): RedisNode[] => [...new Set(owners)].filter((node) => node !== undefined)
  const isWhole = () => owners.every((node) => node?.commands.isReady)

  function refresh(): Promise<void> {
    return (refreshing ??= findPrimaries().finally(() => (refreshing = undefined)))
  }

  async function findPrimaries(): Promise<void> {
    isDoubtful = false
    askedAt = performance.now()
    const shards = await topology.find([...nodes.values()]).catch((error: unknown) => {
      isDoubtful = true
      throw error
    })
    // What a server has said meanwhile is newer than this answer.
    if (isClosed || isDoubtful) return
    const before = [...owners]
    owners.fill(undefined)
    for (const { at, slots } of shards) for (const { from, to } of slots) owners.fill(nodeAt(at), from, to + 1)
    if (owners.every((node, slot) => node === before[slot])) return
    const current = new Set(owners)
    for (const [name, node] of nodes) {
      if (current.has(node)) continue
      nodes.delete(name)
      node.close().catch(options.onError)
    }
    onMoved()
  }

  return {
    /** The server that has the slot of a key or channel, as far as is known. */
    ownerOf: (key: string): RedisNode | undefined => owners[topology.slotOf(key)],
    nodeAt,
    /** A server says that another has this slot. */
    move(slot: number, at: ServerAddress): void {
      if (slot >= owners.length || isClosed) return
      owners[slot] = nodeAt(at)
      isDoubtful = true
      onMoved()
    },
    /** Asks anew who has which slots. Returns whether that has changed. */
    async refresh(): Promise<boolean> {
      const before = [...owners]
      await refresh()
      return owners.some((node, slot) => node !== before[slot])
    },
    /**
     * The keys of each command. In a cluster it has one, because a command with several fails while their slot moves if
     * some do not exist.
     */
    perCommand: (keys: string[]): string[][] =>
      topology.isSharded ? keys.map((key) => [key]) : [keys].filter(({ length }) => length > 0),
    primaries: (): RedisClient[] => primaries().map(({ commands }) => commands),
    /** Waits for all primaries, and after a while for one. Throws if the address is wrong. */
    async open(): Promise<void> {
      await refresh().catch((error: unknown) => {
        if (error instanceof WrongRedisError) throw error
        options.onError(error)
      })
      await within(pollEveryMs, Promise.all(primaries().map(({ connected }) => connected)))
      const limit = AbortSignal.timeout(options.timeoutMs)
      const isEnough = () => isWhole() || (limit.aborted && primaries().some(({ commands }) => commands.isReady))
      while (!isEnough()) await pause(pollEveryMs)
    },
    async close(): Promise<void> {
      isClosed = true
      clearInterval(watching)
      await Promise.all([...nodes.values()].map((node) => node.close()))
    },
  }
}

/** A primary and the slots that it has. */
export interface Shard {
  at: ServerAddress
  slots: { from: number; to: number }[]
}

/** Which server has which keys. Only a cluster has more than one slot. */
interface Topology {
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
class WrongRedisError extends Error {}

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

async function slotsBy(server: ServerAddress, client: RedisClient): Promise<Shard[]> {
  const slots = await client.clusterSlots().catch((error: unknown) => {
    const isNone = /cluster support disabled/.test(reasonOf(error))
    throw isNone ? new WrongRedisError(`${nameOf(server)} is not part of a cluster`) : error
  })
  const shards = new Map<string, Shard>()
  for (const { from, to, master } of slots) {
    // Without a host of its own, a node has that under which it was asked.
    const at = { host: master.host || server.host, port: master.port }
    const shard = shards.get(nameOf(at)) ?? { at, slots: [] }
    shard.slots.push({ from, to })
    shards.set(nameOf(at), shard)
  }
  if (shards.size === 0) throw new Error(`no node of the cluster at ${nameOf(server)} has slots`)
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

const nameOf = ({ host, port }: ServerAddress) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

const slotCount = 16_384

/** CRC16 (XMODEM) of each byte, as the cluster specification gives it. */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

/**
 * The hash slot of a key or of a sharded channel: of what stands between the first braces, if they are not empty.
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
 */
export function hashSlot(key: string): number {
  const open = key.indexOf('{')
  const end = open === -1 ? -1 : key.indexOf('}', open + 1)
  const hashed = end > open + 1 ? key.slice(open + 1, end) : key
  let crc = 0
  for (const byte of Buffer.from(hashed)) crc = ((crc << 8) & 0xffff) ^ (table[((crc >> 8) ^ byte) & 0xff] ?? 0)
  return crc % slotCount
}
