import { type EntryId, zeroId } from '../../domain/ids.ts'
import { parseOwnExactJson, parseOwnJson } from '../../domain/json.ts'
import type { RunEntry } from '../../domain/run-events.ts'
import type { Publication, RunStream, StreamBatch } from '../../services/runs/run-stream.ts'
import type { RedisConnection } from './connect.ts'
import type { RedisClient } from './node.ts'

/**
 * Enough for minutes of continuous writing; writers publish whole messages in between, so that trimming leaves no
 * gap.
 */
const retainedEntries = 5000

/** The channel on which processes that execute steps learn that a run has a newer fence. */
const supersededChannel = 'runs:superseded'
/** The channel on which they learn that threads are being deleted. */
const forgottenChannel = 'threads:forgotten'

/**
 * The scripts of the streams. `idleSeconds`: how long a stream is kept after its last entry; after that, readers are
 * served from the database. All keys of a run, and its channel, are in one hash slot.
 */
function scripts({ publishInSlot }: Pick<RedisConnection, 'publishInSlot'>, idleSeconds: number) {
  // While a slot moves, what its new server publishes is not heard at the old one: readers must notice.
  const head = publishInSlot === 'SPUBLISH' ? "id .. ' ' .. before" : 'id'
  /**
   * Appends to the stream and publishes, unless a newer fence is known: a worker that was considered dead cannot
   * write into its successor's answer. KEYS: stream, newest fence. ARGV: fence, channel.
   */
  const guardedAppend = `
local newest = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[1]) < newest then return false end
redis.call('SET', KEYS[2], ARGV[1], 'EX', ${idleSeconds})
local function append(payload)
  local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  local before = last and last[1] or '${zeroId}'
  local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${retainedEntries}, '*', 'e', payload)
  redis.call('EXPIRE', KEYS[1], ${idleSeconds})
  redis.call('${publishInSlot}', ARGV[2], ${head} .. ' ' .. payload)
  return {id, before}
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
redis.call('EXPIRE', KEYS[3], ${idleSeconds})
return true
`

  return { publishScript, supersedeScript, publishInTurnScript }
}

export function createRunStream(redis: RedisConnection, { idleSeconds }: { idleSeconds: number }): RunStream {
  const { publishScript, supersedeScript, publishInTurnScript } = scripts(redis, idleSeconds)

  const run = (script: string, runId: string, keys: string[], values: string[]): Promise<unknown> =>
    redis.at(streamKey(runId), (client) => client.eval(script, { keys, arguments: values }))

  const subscribeAll = (channel: string, receive: (text: string) => void) =>
    redis.subscribe(channel, { receive, lost: () => {}, back: () => {} })

  return {
    async publish(runId, fence, entries) {
      const values = [String(fence), channelOf(runId), JSON.stringify(entries)]
      return publicationOf(await run(publishScript, runId, [streamKey(runId), fenceKey(runId)], values))
    },

    async supersede(runId, fence, entries) {
      const values = [String(fence), channelOf(runId), JSON.stringify(entries), runId]
      return publicationOf(await run(supersedeScript, runId, [streamKey(runId), fenceKey(runId)], values))
    },

    onSuperseded: (listener) =>
      subscribeAll(supersededChannel, (text) => {
        const [fence, runId] = text.split(' ')
        if (runId !== undefined) listener(runId, Number(fence))
      }),

    async forgetThreads(threadIds) {
      await redis.at(forgottenChannel, (client) => client.publish(forgottenChannel, JSON.stringify(threadIds)))
    },

    onForgotten: (listener) => subscribeAll(forgottenChannel, (text) => listener(parseOwnJson<string[]>(text))),

    async publishInTurn(runId, fence, { group, place }, entries) {
      const values = [String(fence), channelOf(runId), JSON.stringify(entries), String(group), String(place)]
      // In the order in which the script names them.
      await run(publishInTurnScript, runId, [streamKey(runId), fenceKey(runId), turnsKey(runId)], values)
    },

    async read(runId, afterId) {
      const key = streamKey(runId)
      const stored = await redis.at(key, (client) =>
        client.xRange(key, afterId === undefined ? '-' : `(${afterId}`, '+'),
      )
      return (stored ?? []).flatMap(({ id, message }) => batchOf(id, message['e']))
    },

    subscribe: (runId, { receive, lost, back }) =>
      redis.subscribe(
        channelOf(runId),
        { receive: (text) => batchesIn(text).forEach(receive), lost, back },
        { isOfSlot: true },
      ),

    async erase(runIds) {
      await sumOf(runIds.flatMap(textKeysOf), (client, keys) => client.del(keys))
    },

    remove: (runIds) => sumOf(runIds.flatMap(keysOf), (client, keys) => client.del(keys)),
    count: (runIds) => sumOf(runIds.flatMap(keysOf), (client, keys) => client.exists(keys)),
  }

  /** The sum of what the servers say of keys. */
  async function sumOf(all: string[], ask: (client: RedisClient, keys: string[]) => Promise<number>) {
    const commands = redis.perCommand(all)
    const counts = await Promise.all(commands.map((keys) => redis.at(keys[0] ?? '', (client) => ask(client, keys))))
    return counts.reduce((sum, count) => sum + count, 0)
  }
}

function publicationOf(reply: unknown): Publication | null {
  const [id, before]: unknown[] = Array.isArray(reply) ? Array.from<unknown>(reply) : []
  return typeof id === 'string' && typeof before === 'string' ? { id, before } : null
}

/** A publication: the id, where slots can move the id before it, and the entries. */
function batchesIn(text: string): StreamBatch[] {
  const [, id = '', before, entries] = /^(\S+) (?:(\d\S*) )?([^]*)$/.exec(text) ?? []
  return batchOf(id, entries).map((batch) => (before === undefined ? batch : { ...batch, before }))
}

function batchOf(id: EntryId, text: string | undefined): StreamBatch[] {
  if (text === undefined) return []
  return [{ id, entries: parseOwnExactJson<RunEntry[]>(text) }]
}

const streamKey = (runId: string) => `run:{${runId}}:stream`
const fenceKey = (runId: string) => `run:{${runId}}:fence`
const turnsKey = (runId: string) => `run:{${runId}}:turns`
const textKeysOf = (runId: string) => [streamKey(runId), turnsKey(runId)]
const keysOf = (runId: string) => [...textKeysOf(runId), fenceKey(runId)]
const channelOf = (runId: string) => `run:{${runId}}`
