import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../services/within.ts'
import type { ServerAddress } from './address.ts'
import { type ConnectionOptions, type RedisClient, type RedisNode, createNode } from './node.ts'
import { type Topology, WrongRedisError, nameOf } from './topology.ts'

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
    const kept = new Set(owners)
    for (const [name, node] of nodes) {
      if (kept.has(node)) continue
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
