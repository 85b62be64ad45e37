import { once } from 'node:events'
import Fastify, { type FastifyReply } from 'fastify'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openEventStream } from '../../api/sse/event-stream.ts'
import { followRun } from '../../api/sse/follow-run.ts'
import { emptyView } from '../../domain/run-events.ts'
import { collectGarbage } from '../support/collect-garbage.ts'

describe('a reader of a run', () => {
  afterEach(() => void vi.useRealTimers())

  it('uses no more memory after hours than after a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const listeners = new Set<() => void>()
    let progress = () => {}
    let sent = 0
    const stream = {
      comment: () => {},
      end: () => {},
      onProgress: (listener: () => void) => {
        progress = listener
      },
      isWritable: true,
      isClosed: false,
      sentBytes: 0,
    }
    const feed = {
      view: emptyView(),
      onChange: (listener: () => void) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      close: () => {},
    }
    const reader = followRun(stream, feed, {
      send() {
        sent += 1
        return 'sent'
      },
      giveUp: () => {},
      onError: (error) => {
        throw error
      },
    })
    const follow = async (states: number) => {
      for (let state = 0; state < states; state++) {
        stream.isWritable = state % 3 !== 0
        for (const listener of listeners) listener()
        stream.isWritable = true
        progress()
        await vi.advanceTimersByTimeAsync(40)
      }
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    await follow(1800)
    const afterAMinute = await follow(200)
    const afterHours = await follow(20_000)
    expect(sent).toBeGreaterThan(20_000)
    expect(afterHours - afterAMinute).toBeLessThan(1_500_000)
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
    reader.stop()
    await vi.advanceTimersByTimeAsync(40)
    await reader.finished
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('an event stream', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

  /** What `handle` answers, given a request whose client goes away as soon as it may. */
  async function withImpatientClient<T>(handle: (reply: FastifyReply) => Promise<T>): Promise<T> {
    const arrived = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<T>()
    const app = Fastify()
    app.get('/', async (_request, reply) => {
      arrived.resolve()
      handle(reply).then(answer.resolve, answer.reject)
      return reply
    })
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    try {
      const client = new AbortController()
      const response = fetch(address, { signal: client.signal })
      response.catch(() => undefined)
      await arrived.promise
      client.abort()
      return await answer.promise
    } finally {
      await app.close()
    }
  }

  it('adds no listener while its client does not read', async () => {
    const [before, after] = await withImpatientClient(async (reply) => {
      const counts = () => [reply.raw.listenerCount('drain'), reply.raw.listenerCount('close')]
      const stream = openEventStream(reply)
      const known = counts()
      for (let written = 0; written < 100; written++) stream.send({ data: 'x'.repeat(100_000) })
      return [known, counts()]
    })
    expect(after).toEqual(before)
  })

  it('leaves no timer when its client has already disconnected', async () => {
    const left = await withImpatientClient(async (reply) => {
      await once(reply.raw, 'close')
      const before = timers()
      openEventStream(reply)
      return timers() - before
    })
    expect(left).toBe(0)
  })
})
