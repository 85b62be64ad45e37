import { parseOwnJson } from '../../domain/own-json.ts'
import type { EntryId } from '../../domain/event-ids.ts'
import type { RunEntry } from '../../domain/run-events.ts'
import type { RunStream, StreamBatch } from '../../services/runs/run-stream.ts'
import type { RedisConnection } from './connect.ts'

/**
 * Enough for minutes of continuous writing; writers publish whole messages in between, so that trimming leaves no
 * gap.
 */
const keptEntries = 5000

/** A connection breaks, or is closed because it does not answer. */
const lossEvents = ['reconnecting', 'end']

/** The channel on which processes that execute steps learn that a run has a newer fence. */
const supersededChannel = 'runs:superseded'
/** The channel on which they learn that threads are being deleted. */
const forgottenChannel = 'threads:forgotten'

/**
 * The scripts of the streams. `keptSeconds`: how long a stream is kept after its last entry; after that, readers are
 * served from the database.
 */
function scripts(keptSeconds: number) {
  /**
   * Appends to the stream and publishes, unless a newer fence is known: a worker that was considered dead cannot
   * write into its successor's answer. KEYS: stream, newest fence. ARGV: fence, channel.
   */
  const guardedAppend = `
local newest = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[1]) < newest then return false end
redis.call('SET', KEYS[2], ARGV[1], 'EX', ${keptSeconds})
local function append(payload)
  local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${keptEntries}, '*', 'e', payload)
  redis.call('EXPIRE', KEYS[1], ${keptSeconds})
  redis.call('PUBLISH', ARGV[2], id .. ' ' .. payload)
  return id
end
`

  /** ARGV[3]: payload. */
  const publishScript = `${guardedAppend}
return append(ARGV[3])
`

  /** ARGV: payload, run. */
  const supersedeScript = `${guardedAppend}
redis.call('PUBLISH', '${supersededChannel}', ARGV[1] .. ' ' .. ARGV[4])
return append(ARGV[3])
`

  /**
   * An entry that arrives before its turn waits in a hash; the writer that fills the gap appends it too. KEYS[3]: the
   * hash. ARGV: payload, group, position within the group.
   */
  const publishInTurnScript = `${guardedAppend}
local function placeKey(place) return ARGV[4] .. ':' .. string.format('%d', place) end
local nextKey = ARGV[4] .. ':next'
local turn = tonumber(redis.call('HGET', KEYS[3], nextKey) or '0')
if tonumber(ARGV[5]) >= turn then redis.call('HSET', KEYS[3], placeKey(ARGV[5]), ARGV[3]) end
local payload = redis.call('HGET', KEYS[3], placeKey(turn))
while payload do
  append(payload)
  redis.call('HDEL', KEYS[3], placeKey(turn))
  turn = turn + 1
  payload = redis.call('HGET', KEYS[3], placeKey(turn))
end
redis.call('HSET', KEYS[3], nextKey, string.format('%d', turn))
redis.call('EXPIRE', KEYS[3], ${keptSeconds})
return true
`

  return { publishScript, supersedeScript, publishInTurnScript }
}

export function createRunStream(
  { commands, subscriber }: Pick<RedisConnection, 'commands' | 'subscriber'>,
  { keptSeconds }: { keptSeconds: number },
): RunStream {
  const { publishScript, supersedeScript, publishInTurnScript } = scripts(keptSeconds)

  async function hearChannel(channel: string, hear: (text: string) => void): Promise<() => Promise<void>> {
    await subscriber.subscribe(channel, hear)
    return async () => {
      if (subscriber.isOpen) await subscriber.unsubscribe(channel, hear)
    }
  }

  return {
    async publish(runId, fence, entries) {
      const reply: unknown = await commands.eval(publishScript, {
        keys: [streamKey(runId), fenceKey(runId)],
        arguments: [String(fence), channelOf(runId), JSON.stringify(entries)],
      })
      return typeof reply === 'string' ? reply : null
    },

    async supersede(runId, fence, entries) {
      const reply: unknown = await commands.eval(supersedeScript, {
        keys: [streamKey(runId), fenceKey(runId)],
        arguments: [String(fence), channelOf(runId), JSON.stringify(entries), runId],
      })
      return typeof reply === 'string' ? reply : null
    },

    onSuperseded: (listener) =>
      hearChannel(supersededChannel, (text) => {
        const [fence, runId] = text.split(' ')
        if (runId !== undefined) listener(runId, Number(fence))
      }),

    async forgetThreads(threadIds) {
      await commands.publish(forgottenChannel, JSON.stringify(threadIds))
    },

    onForgotten: (listener) => hearChannel(forgottenChannel, (text) => listener(parseOwnJson<string[]>(text))),

    async publishInTurn(runId, fence, { group, place }, entries) {
      await commands.eval(publishInTurnScript, {
        keys: [streamKey(runId), fenceKey(runId), turnsKey(runId)],
        arguments: [String(fence), channelOf(runId), JSON.stringify(entries), String(group), String(place)],
      })
    },

    async read(runId, afterId) {
      const kept = await commands.xRange(streamKey(runId), afterId === undefined ? '-' : `(${afterId}`, '+')
      return (kept ?? []).flatMap(({ id, message }) => batchOf(id, message['e']))
    },

    subscribe: (runId, listener) =>
      hearChannel(channelOf(runId), (text) => {
        const space = text.indexOf(' ')
        for (const batch of batchOf(text.slice(0, space), text.slice(space + 1))) listener(batch)
      }),

    onConnection({ lost, back }) {
      const clients = [commands, subscriber]
      // One client hears new batches, the other reads those that were missed.
      const ready = () => {
        if (clients.every(({ isReady }) => isReady)) back()
      }
      for (const event of lossEvents) subscriber.on(event, lost)
      for (const client of clients) client.on('ready', ready)
      return () => {
        for (const event of lossEvents) subscriber.off(event, lost)
        for (const client of clients) client.off('ready', ready)
      }
    },

    remove: async (runIds) => (runIds.length === 0 ? 0 : commands.del(runIds.flatMap(keysOf))),
    count: async (runIds) => (runIds.length === 0 ? 0 : commands.exists(runIds.flatMap(keysOf))),
  }
}

function batchOf(id: EntryId, text: string | undefined): StreamBatch[] {
  if (text === undefined) return []
  return [{ id, entries: parseOwnJson<RunEntry[]>(text) }]
}

const streamKey = (runId: string) => `run:{${runId}}:stream`
const fenceKey = (runId: string) => `run:{${runId}}:fence`
const turnsKey = (runId: string) => `run:{${runId}}:turns`
const keysOf = (runId: string) => [streamKey(runId), fenceKey(runId), turnsKey(runId)]
const channelOf = (runId: string) => `run:{${runId}}`
