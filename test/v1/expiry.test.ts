import { type OpenAI, toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { refusalOf, v1Client } from './v1-client.ts'

const text = 'The office is open from nine to five. On Fridays the office closes at three.'
const hour = 3_600_000
const day = 24 * hour
const soon = { timeout: 30_000 }

describe('what expires on /v1', () => {
  const service = useSharedService()
  const round = (afterMs: number) => service.api.platform.retention(() => Date.now() + afterMs)
  const upload = async (client: OpenAI, more: Partial<OpenAI.FileCreateParams> = {}) =>
    client.files.create({ file: await toFile(Buffer.from(text), 'a.txt'), purpose: 'assistants', ...more })
  const statusOf = async (request: PromiseLike<unknown>) => (await refusalOf(request)).status

  it('a vector store goes some days after its last use, with a receipt; its files stay', async () => {
    const { client, owner } = await v1Client(service)
    const file = await upload(client)
    const store = await client.vectorStores.create({
      file_ids: [file.id],
      expires_after: { anchor: 'last_active_at', days: 7 },
    })
    expect(store.expires_after).toEqual({ anchor: 'last_active_at', days: 7 })
    expect(store.expires_at).toBe((store.last_active_at ?? 0) + 7 * 86_400)
    const kept = await client.vectorStores.create({ expires_after: { anchor: 'last_active_at', days: 8 } })
    await eventually(
      'the ingestion',
      async () => (await client.vectorStores.retrieve(store.id)).file_counts.completed === 1,
    )

    // A search gives it more time.
    const { assistants, receipts } = service.collections
    const earlier = new Date(Date.now() - 2 * day)
    const { matchedCount } = await assistants.updateOne(
      { _id: store.id },
      { $set: { 'store.last_active_at': earlier, 'store.expires_at': new Date(earlier.getTime() + 7 * day) } },
    )
    expect(matchedCount).toBe(1)
    expect((await client.vectorStores.search(store.id, { query: 'office' })).data).toHaveLength(1)
    await round(6 * day)
    expect((await client.vectorStores.retrieve(store.id)).status).toBe('completed')

    await round(7 * day + hour)
    await expect.poll(() => statusOf(client.vectorStores.retrieve(store.id)), soon).toBe(404)
    const receiptOf = async () => (await receipts.findOne({ subject_id: store.id }).lean())?.status
    await expect.poll(receiptOf, soon).toBe('complete')
    expect(await receipts.findOne({ subject_id: store.id }).lean()).toMatchObject({
      user_id: owner.userId,
      found: { vector_stores: 1, files: 1, chunks: 1, vectors: 1 },
    })
    expect((await client.vectorStores.list()).data.map(({ id }) => id)).toEqual([kept.id])
    expect((await client.files.retrieve(file.id)).bytes).toBe(text.length)
  })

  it('an expired vector store says so, and is not searched, until it is deleted', async () => {
    const { client } = await v1Client(service)
    const file = await upload(client)
    const { id } = await client.vectorStores.create({ expires_after: { anchor: 'last_active_at', days: 1 } })
    const over = { $set: { 'store.expires_at': new Date(Date.now() - 1000) } }
    await service.collections.assistants.updateOne({ _id: id }, over)
    expect((await client.vectorStores.retrieve(id)).status).toBe('expired')
    expect(await statusOf(client.vectorStores.search(id, { query: 'x' }))).toBe(400)
    expect(await statusOf(client.vectorStores.files.create(id, { file_id: file.id }))).toBe(400)
    // Its owner can still change its mind.
    const changed = await client.vectorStores.update(id, { expires_after: null })
    expect(changed).toMatchObject({ status: 'completed', expires_at: null, expires_after: null })
  })

  it('a file goes with its entries', async () => {
    const { client } = await v1Client(service)
    const file = await upload(client, { expires_after: { anchor: 'created_at', seconds: 3600 } })
    expect(file.expires_at).toBe(file.created_at + 3600)
    const other = await upload(client)
    const store = await client.vectorStores.create({ file_ids: [file.id, other.id] })
    const counts = async () => (await client.vectorStores.retrieve(store.id)).file_counts
    await eventually('the ingestion', async () => (await counts()).completed === 2)
    await round(hour / 2)
    expect((await client.files.list()).data).toHaveLength(2)
    await round(hour + 1000)
    await expect.poll(async () => (await counts()).total, soon).toBe(1)
    await expect.poll(() => statusOf(client.files.retrieve(file.id)), soon).toBe(404)
    expect((await client.files.list()).data.map(({ id }) => id)).toEqual([other.id])
    for (const seconds of [3599, 2_592_001, 3600.5]) {
      const error = await refusalOf(upload(client, { expires_after: { anchor: 'created_at', seconds } }))
      expect([error.status, error.param]).toEqual([400, 'expires_after.seconds'])
    }
  })
})
