import { parseOwnJson } from '../../domain/own-json.ts'
import type { EntryId, RunEntry } from '../../domain/run-events.ts'
import type { RunStream, StreamBatch } from '../../services/runs/run-stream.ts'
import type { RedisConnection } from './connect.ts'

/** How long a stream is kept after its last entry; later readers are served from the database. */
const keptSeconds = 24 * 3600
/** Enough for minutes of continuous writing; a writer puts whole messages in between, so that a cut beginning is no gap. */
const keptEntries = 5000

/**
 * Append, publish and fence in one step, so that a worker thought dead cannot write into its
 * successor's answer. KEYS: stream, newest fence. ARGV: fence, payload, channel.
 */
const publishScript = `
local newest = tonumber(redis.call('GET', KEYS[2]) or '0')
local mine = tonumber(ARGV[1])
if mine < newest then return false end
redis.call('SET', KEYS[2], ARGV[1], 'EX', ${keptSeconds})
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${keptEntries}, '*', 'e', ARGV[2])
redis.call('EXPIRE', KEYS[1], ${keptSeconds})
redis.call('PUBLISH', ARGV[3], id .. ' ' .. ARGV[2])
return id
`

export function createRunStream({ commands, subscriber }: Pick<RedisConnection, 'commands' | 'subscriber'>): RunStream {
  return {
    async publish(runId, fence, entries) {
      const reply: unknown = await commands.eval(publishScript, {
        keys: [streamKey(runId), fenceKey(runId)],
        arguments: [String(fence), JSON.stringify(entries), channelOf(runId)],
      })
      return typeof reply === 'string' ? reply : null
    },

    async read(runId, afterId) {
      const kept = await commands.xRange(streamKey(runId), afterId === undefined ? '-' : `(${afterId}`, '+')
      return (kept ?? []).flatMap(({ id, message }) => batchOf(id, message['e']))
    },

    async subscribe(runId, listener) {
      const channel = channelOf(runId)
      const hear = (text: string) => {
        const space = text.indexOf(' ')
        for (const batch of batchOf(text.slice(0, space), text.slice(space + 1))) listener(batch)
      }
      await subscriber.subscribe(channel, hear)
      return async () => {
        if (subscriber.isOpen) await subscriber.unsubscribe(channel, hear)
      }
    },

    onReconnect(listener) {
      subscriber.on('ready', listener)
      return () => {
        subscriber.off('ready', listener)
      }
    },

    remove: async (runIds) =>
      runIds.length === 0 ? 0 : commands.del(runIds.flatMap((id) => [streamKey(id), fenceKey(id)])),
    count: async (runIds) =>
      runIds.length === 0 ? 0 : commands.exists(runIds.flatMap((id) => [streamKey(id), fenceKey(id)])),
  }
}

function batchOf(id: EntryId, text: string | undefined): StreamBatch[] {
  if (text === undefined) return []
  return [{ id, entries: parseOwnJson<RunEntry[]>(text) }]
}

const streamKey = (runId: string) => `run:{${runId}}:stream`
const fenceKey = (runId: string) => `run:{${runId}}:fence`
const channelOf = (runId: string) => `run:{${runId}}`
