import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newId } from '../../../domain/ids.ts'
import { createConversations } from '../../../services/threads/conversations.ts'
import { createLogScan } from '../../../services/threads/log-scan.ts'
import { createThreadStates } from '../../../services/threads/log-states.ts'
import { userArchive } from '../../../services/export/user-archive.ts'
import { archiveOf, linesIn } from '../../support/archives.ts'
import {
  archive,
  archiving,
  birds,
  contentsOf,
  inEntries,
  placesOf,
  recordOf,
  threadOf,
  threadWithRun,
  valuesOf,
} from '../../support/archived-threads.ts'
import { commandsDuring } from '../../support/commands.ts'
import { useSharedService } from '../../support/shared-service.ts'
import { type TestUser, insertUser } from '../../support/users.ts'

const service = useSharedService()
/** Three entries, an input and a call are in three objects. */
const limits = { bytes: 1_000_000, texts: 2 }
const archived = { emptied: 5, objects: 3, isNamed: true }

/** A thread of three objects, and another one that nobody opens. */
async function threeObjects() {
  const user = await insertUser(service)
  const bystander = await threadOf(user)
  const id = await threadWithRun(service, user)
  const before = await contentsOf(service, user, id)
  const { sweep } = archiving(service, { limits })
  for (const each of [id, bystander]) expect(await sweep.archive(await recordOf(service, each))).toBe(true)
  expect(await placesOf(service, id)).toEqual(archived)
  onTestFinished(async () => {
    expect(await placesOf(service, bystander)).toEqual({ emptied: birds.length, objects: 2, isNamed: true })
  })
  return { user, id, before }
}

/** As another process that has a store of bytes of its own, and counts what it reads of it. */
function process(
  changed: {
    read?: (id: string, time: number) => Promise<void>
    delete?: () => Promise<void>
    before?: Promise<void>
  } = {},
) {
  const stored = service.api.infra.knowledge.blobs
  const read: string[] = []
  const blobs = {
    async *read(id: string) {
      read.push(id)
      await changed.read?.(id, read.length)
      yield* stored.read(id)
    },
    async delete(ids: string[]) {
      await changed.delete?.()
      await stored.delete(ids)
    },
  }
  const { threads, errors } = archiving(service, { ...changed, blobs })
  const { collections, pendingInput } = service.api.platform.core
  const reading = { collections, pendingInput, archivedThreads: threads }
  const states = createThreadStates({ ...reading, scan: createLogScan(reading) })
  const messagesOf = async (id: string) =>
    (await states.state(await recordOf(service, id)))?.messages.map(({ data }) => data.content)
  return { threads, errors, read, messagesOf, conversations: createConversations(reading) }
}

/** How many statements on the database it takes. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  return (await commandsDuring([service.api.infra.database.connection], work)).length
}

async function longThread(user: TestUser, entries: number, text = ''): Promise<string> {
  const { thread_id: id } = await user.post('/threads/', { name: 'long' })
  for (let start = 0; start < entries; start += 1000)
    await service.collections.checkpoints.insertMany(
      Array.from({ length: Math.min(entries, 1000) }, (_, index) => ({
        _id: newId(),
        thread_id: String(id),
        seq: start + index + 1,
        messages_json: JSON.stringify([
          { type: 'HumanMessage', data: { id: newId(), content: `bird ${start + index + 1}${text}` } },
        ]),
        source: 'update' as const,
        created_at: new Date(),
      })),
      { lean: true },
    )
  const last = { last_seq: entries, last_entry_id: newId(), has_system: false }
  await service.collections.threads.updateOne({ _id: id }, { $set: last })
  return String(id)
}

describe('opening an archived thread', () => {
  it('of 5,000 entries takes a read of each object, and the texts are written after the answer', async () => {
    const id = await longThread(await insertUser(service), 5000)
    const plain = process()
    let before: unknown
    const unarchived = await statementsOf(async () => (before = await plain.messagesOf(id)))
    expect(before).toHaveLength(5000)
    await archive(service, id)
    expect(await placesOf(service, id)).toEqual({ emptied: 5000, objects: 5, isNamed: true })

    const answered = Promise.withResolvers<void>()
    const ofPage = process({ before: answered.promise })
    expect(await statementsOf(() => ofPage.conversations.read(id, 5000))).toBeLessThan(20)
    // The last object, and one that is to come back.
    expect(ofPage.read.length).toBeLessThanOrEqual(2)

    const opened = process({ before: answered.promise })
    let after: unknown
    const fromObjects = await statementsOf(async () => (after = await opened.messagesOf(id)))
    expect(after).toEqual(before)
    expect(opened.read.length).toBeLessThanOrEqual(7)
    expect(fromObjects - unarchived).toBeLessThan(40)
    answered.resolve()
    for (const { threads, errors } of [opened, ofPage]) {
      await threads.settled()
      expect(errors).toEqual([])
    }
    expect(await placesOf(service, id)).toEqual(inEntries)
    expect(await plain.messagesOf(id)).toEqual(before)
  }, 120_000)

  it('of more than a megabyte reads one object twice, because it waits for its turn', async () => {
    const id = await longThread(await insertUser(service), 12, 'x'.repeat(300_000))
    const { sweep } = archiving(service, { limits: { bytes: 700_000, texts: 100 } })
    expect(await sweep.archive(await recordOf(service, id))).toBe(true)
    expect(await placesOf(service, id)).toEqual({ emptied: 12, objects: 6, isNamed: true })
    const answered = Promise.withResolvers<void>()
    const opened = process({ before: answered.promise })
    expect(await opened.messagesOf(id)).toHaveLength(12)
    // One is to come back.
    expect(opened.read.length).toBeLessThanOrEqual(8)
    expect(new Set(opened.read).size).toBe(6)
    answered.resolve()
    await opened.threads.settled()
    expect(await placesOf(service, id)).toEqual(inEntries)
  })

  it('goes on when another process has brought it back meanwhile', async () => {
    const { id } = await threeObjects()
    const other = process()
    const reader = process({
      read: async (_id, time) => {
        if (time === 2) await other.threads.bringBack(id)
      },
    })
    expect(await reader.messagesOf(id)).toEqual(birds)
    expect(reader.read.length).toBeLessThanOrEqual(4)
    expect(await placesOf(service, id)).toEqual(inEntries)
  })

  it.each([
    ['reads', async ({ user, id, before }) => expect(await contentsOf(service, user, id)).toBe(before)],
    [
      'takes messages',
      async ({ user, id }) => {
        await user.post(`/threads/${id}/state`, { values: [{ type: 'human', content: 'dunlin' }] })
        for (const name of [...birds, 'dunlin']) expect(await valuesOf(user, id)).toContain(name)
      },
    ],
    [
      'searches and exports',
      async ({ user, id }) => {
        const lines = linesIn(gunzipSync(await archiveOf(service, user)), 'messages')
        const own = lines.filter(({ thread_id: thread }) => thread === id)
        expect(own.map(({ messages }) => messages[0].data.content)).toEqual(birds)
        const { found } = await user.get(`/search/messages?q=${birds[2]}`)
        expect(found.map(({ snippet }: any) => snippet)).toEqual([birds[2], birds[2]])
      },
    ],
  ] as [string, (half: Awaited<ReturnType<typeof threeObjects>>) => Promise<void>][])(
    'half way, another process %s',
    async (_name, use) => {
      const half = await threeObjects()
      const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const slow = process({
        delete: async () => {
          reached.resolve()
          await goOn.promise
        },
      })
      slow.threads.bringBackBehind(half.id)
      await reached.promise
      expect(await placesOf(service, half.id)).toEqual({ emptied: 3, objects: 3, isNamed: true })
      await use(half)
      goOn.resolve()
      await slow.threads.settled()
      expect(await placesOf(service, half.id)).toEqual(inEntries)
      expect(slow.errors).toEqual([])
    },
  )

  it('half way, it is deleted, and nothing of it comes back', async () => {
    const { user, id } = await threeObjects()
    const deleted = process({
      delete: async () => {
        await user.delete(`/threads/${id}`)
        await expect.poll(() => service.collections.threads.exists({ _id: id }), { timeout: 30_000 }).toBe(null)
      },
    })
    deleted.threads.bringBackBehind(id)
    await deleted.threads.settled()
    expect(deleted.read).toHaveLength(1)
    expect(await service.collections.checkpoints.countDocuments({ thread_id: id })).toBe(0)
    await expect(deleted.messagesOf(id)).rejects.toThrow('gone')
  })

  it('half way, the process ends, and the next reader goes on', async () => {
    const { user, id, before } = await threeObjects()
    let closed: Promise<void> | undefined
    const ended = process({ delete: async () => void (closed = ended.threads.close()) })
    ended.threads.bringBackBehind(id)
    await ended.threads.settled()
    await closed
    expect(ended.errors).toEqual([])
    expect(await placesOf(service, id)).toEqual({ emptied: 3, objects: 2, isNamed: true })
    ended.threads.bringBackBehind(id)
    await ended.threads.settled()
    // What would change texts is refused: they are not back.
    await expect(ended.threads.keepOpen(id)).rejects.toThrow('ends')
    expect(await placesOf(service, id)).toEqual({ emptied: 3, objects: 2, isNamed: true })
    expect(await contentsOf(service, user, id)).toBe(before)
  })

  it('says that an object is damaged, and tries again with the next reader', async () => {
    const { id } = await threeObjects()
    let isAway = true
    const failing = process({
      read: async () => {
        if (isAway) throw new Error('the store is broken')
      },
    })
    await expect(failing.messagesOf(id)).rejects.toThrow('missing or damaged')
    await failing.threads.settled()
    expect(failing.errors).toHaveLength(1)
    expect(await placesOf(service, id)).toEqual(archived)
    isAway = false
    expect(await failing.messagesOf(id)).toEqual(birds)
    await failing.threads.settled()
    expect(await placesOf(service, id)).toEqual(inEntries)
  })
})

describe('an export', () => {
  it('reads each object once, and leaves the threads archived', async () => {
    const { user, id } = await threeObjects()
    const reader = process()
    const { collections, assistantConfigs, infra } = service.api.platform.core
    const deps = { collections, assistantConfigs, blobs: infra.knowledge.blobs, archivedThreads: reader.threads }
    const owner = await collections.users.findById(user.userId).lean().orFail()
    const written: Buffer[] = []
    for await (const piece of userArchive(deps, owner)) written.push(piece)
    for (const name of [...birds, 'dunlin', 'an egret']) expect(Buffer.concat(written).toString()).toContain(name)
    // Two of the other thread.
    expect(reader.read).toHaveLength(5)
    expect(new Set(reader.read).size).toBe(5)
    expect(await placesOf(service, id)).toEqual(archived)
  })
})
