import { tracingChannel } from 'node:diagnostics_channel'
import type mongoose from 'mongoose'
import type { VectorStore } from '../../services/knowledge/vector-store.ts'
import { type Metrics, secondsSince } from './create-metrics.ts'
import { timed } from './observe-runs.ts'

/**
 * The driver measures its commands if it is told to (`monitorCommands`). Only this program's commands occur as
 * names.
 */
export function observeMongo(
  client: Pick<mongoose.mongo.MongoClient, 'on'>,
  metrics: Pick<Metrics, 'mongoSeconds' | 'mongoConnections'>,
): void {
  const observe = (outcome: string) => (event: { commandName: string; duration: number }) =>
    metrics.mongoSeconds.observe({ command: event.commandName, outcome }, event.duration / 1000)
  client.on('commandSucceeded', observe('ok'))
  client.on('commandFailed', observe('failed'))
  client.on('connectionCheckedOut', () => metrics.mongoConnections.inc())
  client.on('connectionCheckedIn', () => metrics.mongoConnections.dec())
}

interface RedisCommand {
  command: string
}

/**
 * The client publishes its commands on a diagnostics channel, for all connections of the process. Returns a
 * function that unsubscribes.
 */
export function observeRedis({ redisSeconds }: Pick<Metrics, 'redisSeconds'>): () => void {
  const started = new WeakMap<RedisCommand, number>()
  const failed = new WeakSet<RedisCommand>()
  const channel = tracingChannel<RedisCommand>('node-redis:command')
  const listeners = {
    start: (command: RedisCommand) => void started.set(command, performance.now()),
    end: () => undefined,
    asyncStart: () => undefined,
    error: (command: RedisCommand) => void failed.add(command),
    asyncEnd: (command: RedisCommand) => {
      const start = started.get(command)
      if (start === undefined) return
      const outcome = failed.has(command) ? 'failed' : 'ok'
      redisSeconds.observe({ command: command.command, outcome }, secondsSince(start))
    },
  }
  channel.subscribe(listeners)
  return () => {
    channel.unsubscribe(listeners)
  }
}

export function observeVectors(vectors: VectorStore, { vectorSeconds }: Pick<Metrics, 'vectorSeconds'>): VectorStore {
  const seen = <T>(call: string, work: () => Promise<T>) => timed(vectorSeconds, { call }, work)
  return {
    name: vectors.name,
    ping: () => vectors.ping(),
    upsert: (...args) => seen('upsert', () => vectors.upsert(...args)),
    search: (...args) => seen('search', () => vectors.search(...args)),
    count: (...args) => seen('count', () => vectors.count(...args)),
    deleteFile: (...args) => seen('delete_file', () => vectors.deleteFile(...args)),
    deleteSpace: (...args) => seen('delete_space', () => vectors.deleteSpace(...args)),
    spacesOf: (...args) => seen('spaces_of', () => vectors.spacesOf(...args)),
    listSpaces: () => seen('list_spaces', () => vectors.listSpaces()),
    listFiles: (...args) => seen('list_files', () => vectors.listFiles(...args)),
    finalize: (...args) => seen('settle', () => vectors.finalize(...args)),
    close: () => vectors.close(),
  }
}
