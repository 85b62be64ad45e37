import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepareRedis, startRedis } from '../../local/services/redis.ts'
import { conversation } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { readEvents } from '../support/sse.ts'

describe('kill -9 of Redis in the middle of an answer', () => {
  let dataDir: string
  let redis: Awaited<ReturnType<typeof startRedis>>
  let server: Awaited<ReturnType<typeof prepareRedis>>['value']
  let service: ModelService

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'assistant-redis-'))
    server = (await prepareRedis(() => undefined)).value
    redis = await startRedis({ server, dataDir })
    service = await startModelService({ env: { REDIS_URL: redis.url } })
  })
  afterAll(async () => {
    await service.close()
    await redis.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  it('does not fail the run; its reader gets the whole answer on the same connection once Redis is back', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: ['Before ', gate.promise, 'and ', 'after.'] })
    const response = await talk.client.fetch('POST', '/runs/stream', talk.payload('Go'))
    const texts: string[] = []
    const names: string[] = []
    for await (const { event, data } of readEvents(response)) {
      names.push(event)
      if (event === 'data') for (const message of JSON.parse(data)) texts.push(message.data.content)
      if (texts.length === 1 && event === 'data') {
        process.kill(redis.pid, 'SIGKILL')
        gate.resolve()
        await eventually('the run to end without Redis', async () => {
          const [run] = await service.collections.runs.find({ thread_id: talk.threadId }).lean()
          return run?.status === 'success'
        })
        redis = await startRedis({ server, dataDir, port: Number(new URL(redis.url).port) })
      }
    }
    expect(names.slice(0, 2)).toEqual(['start', 'metadata'])
    expect(names.at(-1)).toBe('end')
    expect(texts.at(-1)).toBe('Before and after.')
    for (const text of texts) expect('Before and after.'.startsWith(text)).toBe(true)

    service.model.reply({ text: 'As before.' })
    expect((await talk.stream('And now?')).messages.at(-1).data.content).toBe('As before.')
  })
})
