import { reasonOf } from '../../domain/reason-of.ts'
import { within } from '../../services/within.ts'
import type { TlsSettings } from '../tls.ts'
import { parseRedisUrl, redisUrlForms } from './address.ts'
import { createChannels, createCommands } from './commands.ts'
import { type RedisClient, openClient } from './node.ts'
import { createServers, topologyOf } from './servers.ts'

export type RedisConnection = Awaited<ReturnType<typeof connectRedis>>

interface RedisOptions {
  /** For an address with `rediss`. */
  tls?: TlsSettings | undefined
  /** A command fails if Redis does not answer within this time. */
  timeoutMs?: number
  /** Called for each failure of a connection; it reconnects by itself. */
  onError(error: unknown): void
}

/** Connects to one server, to the primaries of a cluster, or to the primary that Sentinels know (`parseRedisUrl`). */
export async function connectRedis(url: string, { tls = {}, timeoutMs = 4000, onError }: RedisOptions) {
  const address = parseRedisUrl(url)
  if (address === undefined) throw new Error(`the address must be such as ${redisUrlForms}`)
  const options = { ...address, tls, timeoutMs, onError }
  const topology = topologyOf(address, async (at, question) => {
    const client = openClient(at, options, () => false)
    client.on('error', () => undefined)
    const limit = setTimeout(() => client.destroy(), timeoutMs)
    try {
      await client.connect()
      return await question(client)
    } finally {
      clearTimeout(limit)
      client.destroy()
    }
  })
  const servers = createServers(topology, options, () => channels.follow())
  const commands = createCommands(servers, timeoutMs / 8)
  const channels = createChannels({ ...servers, ...commands }, topology.isSharded, onError)
  try {
    await servers.open()
    if (!topology.isSharded) await refuseCluster(servers.primaries())
  } catch (error) {
    await servers.close()
    throw error
  }
  return {
    at: commands.at,
    perCommand: servers.perCommand,
    subscribe: channels.subscribe,
    /** Publishes to those who subscribe with `isOfSlot`. */
    publishInSlot: topology.isSharded ? ('SPUBLISH' as const) : ('PUBLISH' as const),
    /** The connections for commands, one of each primary. */
    primaries: servers.primaries,
    ping: () => pingAll(servers.primaries()),
    close: async () => {
      channels.close()
      await servers.close()
    },
  }
}

const pingLimitMs = 1000

/** Fails if no primary answers. If only some do, it returns a text that says how many. */
async function pingAll(primaries: RedisClient[]): Promise<string | undefined> {
  const answers = primaries.map(async (client) => within(pingLimitMs, client.ping()))
  const results = await Promise.allSettled(answers)
  const failed = results.find((one) => one.status === 'rejected')
  const count = results.filter((one) => one.status === 'fulfilled' && one.value !== undefined).length
  if (count === 0) throw new Error(failed === undefined ? 'no answer in time' : reasonOf(failed.reason))
  return count < primaries.length ? `${count} of ${primaries.length} primaries answer` : undefined
}

/** Each command would be sent to another node. */
async function refuseCluster([client]: RedisClient[]): Promise<void> {
  // A server in between may not know the question.
  const said = await client?.hello().catch(() => undefined)
  if (said !== undefined && String(said.mode) === 'cluster')
    throw new Error(
      'this server is part of a cluster: the address must begin with redis+cluster:// or rediss+cluster://',
    )
}
