import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createSecretBox } from '../../services/secrets.ts'
import { type ArchiveDeps, archiveOwnerOf, createThreadArchive } from '../../services/threads/archive.ts'
import { packTexts, unpackTexts } from '../../services/threads/archive-format.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { useSharedService } from '../support/shared-service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const service = useSharedService({ respond: () => ({ text: 'well' }) })
const day = 86_400_000
const names = ['albatross', 'bittern', 'cormorant']

const deps = (): ArchiveDeps => {
  const { collections, transaction, secretBox, infra } = service.api.platform.core
  return { collections, transaction, secretBox, blobs: infra.knowledge.blobs }
}
const recordOf = async (id: string) => {
  const record = await service.collections.threads.findById(id).lean<ThreadRecord>()
  if (record === null) throw new Error('the thread is gone')
  return record
}
/** Read past the models, which would bring the texts back. */
const emptyTexts = (id: string) =>
  service.collections.checkpoints.collection.countDocuments({ thread_id: id, messages_json: '' })
async function threadOf(user: TestUser): Promise<string> {
  const { thread_id: id } = await user.post('/threads/', { name: 'birds' })
  for (const content of names) await user.post(`/threads/${id}/state`, { values: [{ type: 'human', content }] })
  return id
}

async function archived() {
  const user = await insertUser(service)
  const id = await threadOf(user)
  const before = JSON.stringify((await user.get(`/threads/${id}/state`)).values)
  const archive = createThreadArchive(deps())
  expect(await archive.archive(await recordOf(id))).toBe(true)
  expect(await emptyTexts(id)).toBe(names.length)
  return { user, id, before, archive }
}
const valuesOf = async (user: TestUser, id: string) => JSON.stringify((await user.get(`/threads/${id}/state`)).values)

describe('an archived thread', () => {
  it('comes back when it is read, in two readers at once, and its object goes', async () => {
    const { user, id, before } = await archived()
    expect(await Promise.all([valuesOf(user, id), valuesOf(user, id)])).toEqual([before, before])
    expect(await emptyTexts(id)).toBe(0)
    const { archive, opened_at: openedAt } = await recordOf(id)
    expect(archive).toBeUndefined()
    expect(openedAt).toBeInstanceOf(Date)
    expect(await service.api.infra.knowledge.blobs.countOf(archiveOwnerOf(id))).toBe(0)
  })

  it('is listed and found by its words, and takes new messages', async () => {
    const { user, id } = await archived()
    const { found } = await user.get('/search/messages?q=cormorant')
    expect(found).toMatchObject([{ thread: { thread_id: id } }])
    const again = await archived()
    await again.user.post(`/threads/${again.id}/state`, { values: [{ type: 'human', content: 'dunlin' }] })
    const read = await valuesOf(again.user, again.id)
    for (const name of [...names, 'dunlin']) expect(read).toContain(name)
  })

  it('is deleted with its object, which the receipt counts', async () => {
    const { user, id } = await archived()
    await user.delete(`/threads/${id}`)
    await expect
      .poll(() => service.collections.receipts.findOne({ user_id: user.userId, status: 'complete' }).lean(), {
        timeout: 30_000,
      })
      .toMatchObject({ found: { thread_archives: 1 } })
    expect(await service.api.infra.knowledge.blobs.countOf(archiveOwnerOf(id))).toBe(0)
  })

  it('is archived by a round only when nobody has used it', async () => {
    const user = await insertUser(service)
    const id = await threadOf(user)
    const { round } = createThreadArchive(deps())
    await round(30, Date.now() + 29 * day)
    expect(await emptyTexts(id)).toBe(0)
  })
})

describe('whatever step a process dies at', () => {
  const steps = ['write', 'read', 'transaction 1', 'transaction 2', 'transaction 3', 'delete'] as const

  it.each(steps.flatMap((step) => [[step, 'before'] as const, [step, 'after'] as const]))(
    '%s (%s it), nothing is lost',
    async (step, when) => {
      const user = await insertUser(service)
      const id = await threadOf(user)
      const before = await valuesOf(user, id)
      const real = deps()
      let transactions = 0
      const dying = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        if (name === step && when === 'before') throw new Error('killed')
        const result = await work()
        if (name === step) throw new Error('killed')
        return result
      }
      const { blobs } = real
      const faulty = createThreadArchive({
        ...real,
        transaction: (work) => dying(`transaction ${++transactions}`, () => real.transaction(work)),
        blobs: {
          newBlobId: blobs.newBlobId,
          write: (...args) => dying('write', () => blobs.write(...args)),
          read: (blobId) => (step === 'read' ? Readable.from([Buffer.from('cut')]) : blobs.read(blobId)),
          delete: (ids) => dying('delete', () => blobs.delete(ids)),
        },
      })
      const isDone = await faulty.archive(await recordOf(id)).catch(() => false)
      if (isDone) {
        const [entry] = await service.collections.checkpoints.collection.find({ thread_id: id }).toArray()
        await faulty.openEntries([String(entry?._id)]).catch(() => undefined)
      }
      await createThreadArchive(real).round(36_500, Date.now() + 11 * 60_000)
      expect(await valuesOf(user, id)).toBe(before)
      expect(await emptyTexts(id)).toBe(0)
    },
  )
})

it('nothing is lost when a thread is archived, read, written and archived again at once', async () => {
  const user = await insertUser(service)
  const id = await threadOf(user)
  for (let turn = 0; turn < 4; turn++) {
    const record = await recordOf(id)
    const [one, two] = [createThreadArchive(deps()), createThreadArchive(deps())]
    await Promise.all([
      one.archive(record).catch(() => false),
      two.archive(record).catch(() => false),
      valuesOf(user, id),
      user.post(`/threads/${id}/state`, { values: [{ type: 'human', content: `turn ${turn}` }] }),
    ])
  }
  const read = await valuesOf(user, id)
  for (const content of [...names, 'turn 0', 'turn 1', 'turn 2', 'turn 3']) expect(read).toContain(content)
})

it('an object opens only for its thread, whole, and with a known key', async () => {
  const [old, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const place = { threadId: 'one', blobId: 'blob' }
  const object = await packTexts(createSecretBox(old), place, [['id', '[]']])
  expect(await unpackTexts(createSecretBox(current, [old]), place, object)).toEqual([['id', '[]']])
  const box = createSecretBox(old)
  await expect(unpackTexts(createSecretBox(current), place, object)).rejects.toThrow('unknown key')
  await expect(unpackTexts(box, { ...place, threadId: 'two' }, object)).rejects.toThrow()
  await expect(unpackTexts(box, place, object.subarray(0, -1))).rejects.toThrow()
  await expect(unpackTexts(box, place, object.subarray(0, 5))).rejects.toThrow()
})
