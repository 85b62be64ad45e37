import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ClientClosedError } from 'redis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { connectRedis, type RedisConnection } from '../../infra/redis/connect.ts'
import { createNode } from '../../infra/redis/node.ts'
import { createRateCounter } from '../../infra/redis/rate-counter.ts'
import { createRunStream } from '../../infra/redis/run-stream.ts'
import { type Shard, createServers, hashSlot } from '../../infra/redis/servers.ts'
import { createAnswer, createRunWriter } from '../../services/runs/answer.ts'
import { createRunFeeds } from '../../services/runs/run-feeds.ts'
import { within } from '../../services/within.ts'
import { createAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeRedis } from '../support/fake-redis.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { startRedisSentinels } from '../support/redis-sentinels.ts'

const connect = (url: string, ca?: string) =>
  connectRedis(url, { tls: { ca }, timeoutMs: 2000, onError: () => undefined })

type Streams = Awaited<ReturnType<typeof openStreams>>

/** The streams as a process that writes and one that reads have them. */
async function openStreams(url: string, ca?: string) {
  const connections = [await connect(url, ca), await connect(url, ca)] as const
  const [writing, reading] = connections
  const streamOf = (redis: RedisConnection) => createRunStream(redis, { idleSeconds: 60 })
  return {
    connections,
    writing: streamOf(writing),
    reading: streamOf(reading),
    close: () => Promise.all(connections.map((connection) => connection.close())),
  }
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, number) => `${prefix}-${number}`)
const slotOf = (runId: string) => hashSlot(`{${runId}}`)

/** A run whose writer says one number after the other, and a reader; both as the service has them. */
async function talk({ writing, reading }: Streams, runId: string) {
  const texts: string[] = []
  const deps = { snapshot: async () => undefined, onError: () => undefined }
  const feeds = createRunFeeds({ ...deps, stream: reading })
  const feed = await feeds.open({ runId, threadId: 'thread' }, { isNew: true })
  feed.onChange(() => texts.push(shown()))
  const shown = () => {
    const content = feed.view.messages.get('m')?.content
    return content !== undefined && 'pieces' in content ? content.pieces.text : ''
  }
  const answer = createAnswer('m')
  const live = { run: { _id: runId, fence: 1 }, step: 0, state: 'joined', apply: () => undefined }
  const writer = createRunWriter({ stream: writing, onError: () => undefined }, live as never, answer)
  writer.push([{ type: 'begin', id: 'm' }])
  let said = ''
  return {
    texts,
    async say(number: number): Promise<void> {
      const text = `${number} `
      said += text
      writer.push(answer.add({ type: 'text', text }))
      await writer.drain()
    },
    async end(): Promise<void> {
      await eventually('the whole text', () => shown() === said)
      feeds.close()
    },
    get said() {
      return said
    },
  }
}

/** Runs that talk while `disturb` works. Each reader must have seen only beginnings of what was said, and all of it. */
async function talkDuring(streams: Streams, runIds: string[], disturb: () => Promise<void>): Promise<void> {
  const talks = await Promise.all(runIds.map((runId) => talk(streams, runId)))
  let isOver = false
  let number = 0
  const sayOn = async () => {
    await Promise.all(talks.map(({ say }) => say(number)))
    number += 1
    await pause(5)
  }
  const saying = (async () => {
    while (!isOver) await sayOn()
    for (let more = 0; more < 10; more++) await sayOn()
  })()
  await disturb().finally(() => (isOver = true))
  await saying
  for (const one of talks) {
    await one.end()
    expect(one.texts.filter((text) => !one.said.startsWith(text))).toEqual([])
  }
}

describe('a Redis cluster with TLS and a password', () => {
  let dataDir: string
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>
  let streams: Streams
  let ca: string

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'assistant-redis-cluster-'))
    const authority = await createAuthority('ours')
    ca = authority.ca
    cluster = await startRedisCluster(dataDir, authority)
    streams = await openStreams(cluster.url, ca)
  })
  afterAll(async () => {
    await streams.close()
    await cluster.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  it('has the slots that the client computes', async () => {
    for (const key of ['', '123456789', 'run:{id}:stream', '{}x', '{a}{b}', 'x{', '}{ü}'])
      expect(hashSlot(key), key).toBe(await cluster.keySlot(key))
  })

  it('executes every script of runs and rates, and reads, counts and removes what they leave', async () => {
    const { writing, reading } = streams
    const runIds = names('all', 40)
    const heard: string[] = []
    const superseded: string[] = []
    const forgotten: string[] = []
    await reading.onSuperseded((runId) => superseded.push(runId))
    await reading.onForgotten((threadIds) => forgotten.push(...threadIds))
    const listen = (runId: string) =>
      reading.subscribe(runId, { receive: () => heard.push(runId), lost: () => {}, back: () => {} })
    const stops = await Promise.all(runIds.map(listen))
    for (const runId of runIds) {
      await writing.publish(runId, 1, [{ type: 'open' }])
      await writing.publishInTurn(runId, 1, { group: 0, place: 0 }, [{ type: 'begin', id: 'm' }])
      await writing.supersede(runId, 2, [{ type: 'end' }])
      expect(await writing.publish(runId, 1, [])).toBeNull()
      expect(await reading.read(runId)).toHaveLength(3)
    }
    await writing.forgetThreads(['thread'])
    await eventually('all messages', () => heard.length === 120 && superseded.length === 40 && forgotten.length === 1)
    await Promise.all(stops.map((stop) => stop()))
    await writing.publish('all-0', 2, [])
    expect(await writing.count(runIds)).toBe(120)
    // Of each run its fence stays.
    await writing.erase(runIds)
    expect(await writing.count(runIds)).toBe(40)
    expect(await writing.remove(runIds)).toBe(40)
    expect(heard).toHaveLength(120)
    // Whoever adds a command sees here that its keys are in one slot.
    expect(Object.keys(writing)).toEqual(
      ['publish', 'supersede', 'onSuperseded', 'forgetThreads', 'onForgotten', 'publishInTurn'].concat([
        'read',
        'subscribe',
        'erase',
        'remove',
        'count',
      ]),
    )

    const counters = streams.connections.map((redis) => createRateCounter(redis, 'cluster-', 15_000))
    for (const counter of counters) for (const key of names('key', 10)) await counter.hit(key, 60_000)
    expect((await counters[0]?.read('key-3'))?.current).toBe(2)
  })

  it('is refused under the address of one server, and one server under that of a cluster', async () => {
    const plain = inject('services').redisUrl
    await expect(connect(plain.replace('redis:', 'redis+cluster:'))).rejects.toThrow('is not part of a cluster')
    await expect(connect(plain.replace('redis:', 'redis+sentinel:') + '/main')).rejects.toThrow('is no Sentinel')
    const node = cluster.url.replace('+cluster', '').replace(/,.*/, '')
    await expect(connect(node, ca)).rejects.toThrow('redis+cluster://')
  })

  it('moves a slot in the middle of its runs, of which no reader misses anything', async () => {
    const moved = slotOf('moving-0')
    const inSlot = names('moving', 100_000).filter((runId) => slotOf(runId) === moved)
    expect(inSlot.length).toBeGreaterThan(2)
    const runIds = [...names('moving', 10), ...inSlot.slice(1)]
    await talkDuring(streams, runIds, () => cluster.moveSlot(moved, () => pause(100)))
  })

  it('counts and removes runs while their slot moves; new ones are published afterwards', async () => {
    const { writing } = streams
    const slot = slotOf('open-0')
    const [first = '', second = '', next = ''] = names('open', 100_000).filter((runId) => slotOf(runId) === slot)
    // Each has two of the three keys of a run.
    const left = [first, second]
    for (const runId of left) await writing.publish(runId, 1, [])
    await cluster.moveSlot(slot, async () => {
      const runIds = left.splice(0, 1)
      expect(await writing.count(runIds)).toBe(2)
      expect(await writing.remove(runIds)).toBe(2)
      await expect(writing.publish(next, 1, [])).rejects.toThrow('TRYAGAIN')
    })
    expect(left).toEqual([])
    expect(await writing.publish(next, 1, [])).not.toBeNull()
  })

  it('lets a replica take over as planned, and after a kill; readers get all, once', async () => {
    await talkDuring(streams, names('planned', 20), async () => {
      await pause(100)
      await cluster.promoteReplicaOf(slotOf('planned-0'))
      await pause(100)
    })
    await talkDuring(streams, names('killed', 20), async () => {
      await pause(100)
      await cluster.killOwnerOf(slotOf('killed-0'))
      expect(await streams.connections[0].ping()).toBe('2 of 3 primaries answer')
      await cluster.untilServed(slotOf('killed-0'))
      await eventually('the writer to find it', () => streams.writing.publish('killed-0', 1, []))
    })
    await eventually('the next primary', async () => (await streams.connections[0].ping()) === undefined)
  })
})

describe('Redis with Sentinels', () => {
  it.each([
    ['without TLS', false],
    ['with TLS', true],
  ])('is served by the next primary after a kill; readers get all, once (%s)', async (_case, isTls) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'assistant-redis-sentinels-'))
    const authority = isTls ? await createAuthority('ours') : undefined
    const redis = await startRedisSentinels(dataDir, authority)
    const streams = await openStreams(redis.url, authority?.ca)
    const untilFound = () => eventually('the writer to find it', () => streams.writing.publish('killed-0', 1, []))
    await talkDuring(streams, names('killed', 20), async () => {
      await pause(100)
      await redis.killPrimary()
      await untilFound()
    })
    // The server that comes back is a replica, and nobody writes to it.
    await talkDuring(streams, names('again', 5), () => redis.startAgain())
    await expect(connect(redis.url.replace('/main', '/other'), authority?.ca)).rejects.toThrow(
      'knows no primary of that name',
    )
    await streams.close()
    await redis.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
})

describe('a connection to servers of Redis', () => {
  const onError = () => undefined
  const options = { isTls: false, tls: {}, username: '', password: '', database: 0, timeoutMs: 400, onError }
  const closers: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close()
  })

  async function start(...replies: Parameters<typeof startFakeRedis>) {
    const server = await startFakeRedis(...replies)
    closers.push(server.close)
    return server
  }

  async function open(url: string, timeoutMs = 400) {
    const redis = await connectRedis(url, { timeoutMs, onError })
    closers.push(redis.close)
    return redis
  }

  /** Two servers, each with a value of its own, and a Sentinel that names the first until `fail` is called. */
  async function startWithSentinel(replies: Record<string, Error> = {}) {
    const reply =
      (value: string) =>
      ([name = '']: string[]) =>
        replies[name] ?? (name === 'GET' ? value : 'OK')
    const [first, second] = [await start(reply('first')), await start(reply('second'))]
    let primary = first
    const sentinel = await start(([name]) => (name === 'SENTINEL' ? ['127.0.0.1', String(primary.at.port)] : 'OK'))
    const redis = await open(`redis+sentinel://${sentinel.address}/main`, 2000)
    return { redis, sentinel, fail: () => (primary = second) }
  }

  it.each(['CLUSTERDOWN The cluster is down', 'NOREPLICAS Not enough good replicas to write.'])(
    'finds the next primary when that of before answers %s',
    async (message) => {
      const second = await start(([name]) => (name === 'GET' ? 'value' : 'OK'))
      let isReplaced = false
      const first = await start(([name]) => {
        if (name === 'CLUSTER') return [[0, 16_383, ['127.0.0.1', (isReplaced ? second : first).at.port, 'id']]]
        return name === 'GET' ? new Error(message) : 'OK'
      })
      // The next primary has an eighth of the time to open its connection.
      const redis = await open(`redis+cluster://${first.address}`, 40_000)
      const read = () => redis.at('key', (client) => client.get('key'))
      await expect(read()).rejects.toThrow(message)
      isReplaced = true
      expect(await read()).toBe('value')
    },
  )

  it('is closed also when it is just being opened', async () => {
    const server = await start()
    // Longer than the test waits, so that no connection ends by it.
    const node = createNode(server.at, { ...options, timeoutMs: 60_000 })
    const subscribing = node.subscriber()
    await node.close()
    await expect(subscribing).rejects.toThrow(ClientClosedError)
    await eventually('no open connection', () => server.accepted === 2 && server.openCount === 0, 5000)
  })

  it('is opened again when it is taken and not greeted', async () => {
    const server = await start((_words, connection) => (connection === 1 ? undefined : 'OK'))
    expect(await within(10_000, open(`redis://${server.address}`))).toBeDefined()
  })

  it('follows what a server says of a slot, not an answer that was asked for before', async () => {
    const [first, second] = [await start(), await start()]
    const older = Promise.withResolvers<Shard[]>()
    const slots = [{ from: 0, to: 0 }]
    let asked = 0
    const find = async () => (asked++ === 0 ? older.promise : [{ at: second.at, slots }])
    const topology = { slotCount: 1, slotOf: () => 0, isSharded: true, changesUnnoticed: false, find }
    const servers = createServers(topology, options, () => undefined)
    closers.push(servers.close)
    const refreshing = servers.refresh()
    servers.move(0, second.at)
    older.resolve([{ at: first.at, slots }])
    expect(await refreshing).toBe(true)
    expect(servers.ownerOf('key')?.at).toEqual(second.at)
    await eventually('another question', () => asked > 1, 5000)
    expect(servers.ownerOf('key')?.at).toEqual(second.at)
  })

  it('finds the next primary of Sentinels while that of before still answers', async () => {
    const { redis, fail } = await startWithSentinel()
    const read = () => redis.at('key', (client) => client.get('key'))
    expect(await read()).toBe('first')
    fail()
    await eventually('the next primary', async () => (await read()) === 'second')
    expect(redis.perCommand(['a', 'b'])).toEqual([['a', 'b']])
    expect(redis.perCommand([])).toEqual([])
  })

  it('fails with the error of the server, also when no Sentinel answers', async () => {
    const { redis, sentinel } = await startWithSentinel({ SET: new Error('READONLY It is a replica.') })
    await sentinel.close()
    await expect(redis.at('key', (client) => client.set('key', 'value'))).rejects.toThrow('READONLY')
  })
})
