import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareIds } from '../../domain/ids.ts'
import { hashSlot } from '../../infra/redis/servers.ts'
import { conversation } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { inForm } from '../support/long-form.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { readEvents } from '../support/sse.ts'

const streams = inForm({ long: 100, short: 20 })
const words = Array.from({ length: 80 }, (_, number) => `word${number} `)
const wholeText = words.join('')

/** The new text of a message, which may only grow, by what was said. */
function grown(before: string, text: string): string {
  if (text.startsWith(before) && wholeText.startsWith(text)) return text
  throw new Error(`${before} became ${text}`)
}

describe('a service on a Redis cluster of six nodes', () => {
  let dataDir: string
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>
  let service: ModelService
  const gates = words.map(() => Promise.withResolvers<void>())
  let said = 0

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'assistant-redis-cluster-'))
    cluster = await startRedisCluster(dataDir)
    const respond = () => ({ text: words.flatMap((word, index) => [gates[index]?.promise ?? Promise.resolve(), word]) })
    // All is in one process: a step of it that waits for its turn must not be given to another attempt, which would
    // begin the answer anew.
    const settings = { runTaskTimeoutSeconds: 30 }
    service = await startModelService({ env: { REDIS_URL: cluster.url }, settings, respond })
  })
  afterAll(async () => {
    await service.close()
    await cluster.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  /** All models say their next words, one after the other. */
  async function say(count: number, everyMs: number): Promise<void> {
    for (let more = 0; more < count; more++) {
      gates[said]?.resolve()
      said += 1
      await pause(everyMs)
    }
  }

  /** A stream as one connection shows it. Ids only rise, and text only grows, by what was said. */
  async function open() {
    const talk = await conversation(service)
    const seen = { runId: '', text: '', names: [] as string[], lastId: '0-0' }
    const response = await talk.client.fetch('POST', '/runs/stream', talk.payload('Count'))
    const over = (async () => {
      for await (const { event, id, data } of readEvents(response)) {
        expect(compareIds(id ?? '', seen.lastId), `${id} after ${seen.lastId}`).toBeGreaterThan(0)
        seen.lastId = id ?? ''
        if (event === 'metadata') seen.runId = JSON.parse(data).run_id
        if (event !== 'data') seen.names.push(event)
        else for (const { data: message } of JSON.parse(data)) seen.text = grown(seen.text, message.content)
      }
    })()
    // Awaited later.
    over.catch(() => undefined)
    return { talk, seen, over }
  }

  it(
    `${streams} streams lose and double nothing when a primary is killed and a slot moves, on the same connections`,
    { timeout: 300_000 },
    async () => {
      await say(1, 0)
      const all: Awaited<ReturnType<typeof open>>[] = []
      while (all.length < streams) {
        all.push(...(await Promise.all(Array.from({ length: 10 }, open))))
        await eventually('words in all streams', () => all.every(({ seen }) => seen.text !== ''))
      }
      const failed = Promise.race(all.map(({ over }) => over.then(() => new Promise<never>(() => {}))))
      failed.catch(() => undefined)
      await say(10, 100)
      const slots = all.map(({ seen }) => hashSlot(`{${seen.runId}}`))
      const [slot = 0] = slots
      const before = await cluster.ownerOf(slot)
      await cluster.killOwnerOf(slot)
      await say(20, 100)
      await cluster.untilServed(slot)
      expect(await cluster.ownerOf(slot)).not.toBe(before)
      await say(10, 100)
      await cluster.moveSlot(slot, () => say(5, 100))
      await say(10, 100)
      // All have caught up while the models still speak.
      const shown = words.slice(0, said).join('')
      await Promise.race([eventually('all words said', () => all.every(({ seen }) => seen.text === shown)), failed])
      await say(words.length - said, 50)
      await Promise.all(all.map(({ over }) => over))
      for (const { talk, seen } of all) {
        expect(seen).toMatchObject({ names: ['start', 'metadata', 'end'], text: wholeText })
        const stored = await talk.messages()
        expect(stored.map(({ data }) => data.content)).toEqual(['Count', wholeText])
      }
    },
  )
})
