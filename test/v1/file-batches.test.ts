import { type OpenAI, toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { refusalOf, v1Client } from './v1-client.ts'

describe('batches of files of /v1', () => {
  const service = useSharedService()
  const poll = { pollIntervalMs: 200 }

  /**
   * The first file of a batch is done. An ingestion ends with a status, so this waits for as long as a test may take: the
   * first of a process starts a reader, which takes a busy machine half a minute.
   */
  async function first(read: () => Promise<OpenAI.VectorStores.VectorStoreFileBatch>): Promise<void> {
    const isDone = async () => {
      const { file_counts: counts } = await read()
      return counts.completed + counts.failed > 0 && counts
    }
    expect(await eventually('the first file', isDone, 150_000)).toMatchObject({ completed: 1, failed: 0 })
  }

  const upload = async (client: OpenAI, name: string, text: string) =>
    (await client.files.create({ file: await toFile(Buffer.from(text), name), purpose: 'assistants' })).id

  it('are cancelled: what is not done ends and leaves nothing, and can be added again', async () => {
    const { client } = await v1Client(service)
    const [done, held] = [
      await upload(client, 'done.txt', 'Early words.'),
      await upload(client, 'held.txt', 'Held words.'),
    ]
    const { id: store } = await client.vectorStores.create({})
    const gate = Promise.withResolvers<void>()
    service.model.embeddings.waitFor(gate.promise, 0, (text) => text.includes('Held'))
    const batch = await client.vectorStores.fileBatches.create(store, {
      files: [{ file_id: done, attributes: { place: 1 } }, { file_id: held }],
    })
    expect(batch).toMatchObject({ status: 'in_progress', file_counts: { in_progress: 2, total: 2 } })
    const read = () => client.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: store })
    await first(read)
    const cancelled = await client.vectorStores.fileBatches.cancel(batch.id, { vector_store_id: store })
    const counts = { completed: 1, cancelled: 1, in_progress: 0, failed: 0, total: 2 }
    expect(cancelled).toMatchObject({ status: 'cancelled', file_counts: counts })
    gate.resolve()
    const { files, chunks } = service.collections
    const entry = async () => files.findOne({ assistant_id: store, source_id: held }).lean()
    await eventually('the end of the cancelled file', async () => (await entry())?.status === 'failed')
    expect(await chunks.countDocuments({ assistant_id: store, file_id: (await entry())?._id ?? '' })).toBe(0)
    expect((await read()).file_counts).toEqual(counts)
    const list = async (filter: OpenAI.VectorStores.FileBatchListFilesParams['filter']) =>
      (
        await client.vectorStores.fileBatches.listFiles(batch.id, { vector_store_id: store, ...(filter && { filter }) })
      ).data.map(({ id }) => id)
    expect(await list('cancelled')).toEqual([held])
    expect(await list('completed')).toEqual([done])
    expect((await client.vectorStores.search(store, { query: 'Held words' })).data.map((one) => one.file_id)).toEqual([
      done,
    ])

    const again = await client.vectorStores.fileBatches.createAndPoll(store, { file_ids: [held] }, poll)
    expect(again).toMatchObject({ status: 'completed', file_counts: { completed: 1, total: 1 } })
    // It is another record of the file: the cancelled batch stays what it was.
    expect(await read()).toMatchObject({ id: batch.id, status: 'cancelled', file_counts: { completed: 1, total: 1 } })
    expect((await client.vectorStores.search(store, { query: 'Held words' })).data[0]?.file_id).toBe(held)
  })

  it('are records: a file can be in several, and they stay when their files go, until their store goes', async () => {
    const { client, owner } = await v1Client(service)
    const [one, two] = [await upload(client, 'one.txt', 'One.'), await upload(client, 'two.txt', 'Two.')]
    const { id: store } = await client.vectorStores.create({})
    const first = await client.vectorStores.fileBatches.createAndPoll(store, { file_ids: [one, two] }, poll)
    const second = await client.vectorStores.fileBatches.createAndPoll(store, { file_ids: [two] }, poll)
    const read = ({ id }: { id: string }) => client.vectorStores.fileBatches.retrieve(id, { vector_store_id: store })
    const filesOf = async ({ id }: { id: string }) =>
      (await client.vectorStores.fileBatches.listFiles(id, { vector_store_id: store, order: 'asc' })).data.map(
        (file) => file.id,
      )
    expect([await read(first), await read(second)]).toEqual([first, second])
    expect([first.file_counts.total, second.file_counts.total]).toEqual([2, 1])
    expect([await filesOf(first), await filesOf(second)]).toEqual([[one, two], [two]])
    await client.vectorStores.files.delete(two, { vector_store_id: store })
    await eventually('the removal', async () => (await read(second)).file_counts.total === 0)
    expect(await read(second)).toMatchObject({ id: second.id, created_at: second.created_at, status: 'completed' })
    expect(await filesOf(first)).toEqual([one])
    const cancelled = await client.vectorStores.fileBatches.cancel(first.id, { vector_store_id: store })
    expect(cancelled).toMatchObject({ status: 'completed', file_counts: { completed: 1 } })

    const { id: other } = await client.vectorStores.create({})
    const elsewhere = client.vectorStores.fileBatches.retrieve(first.id, { vector_store_id: other })
    expect((await refusalOf(elsewhere)).status).toBe(404)
    await client.vectorStores.delete(store)
    const { fileBatches } = service.collections
    await eventually('the end', async () => (await fileBatches.countDocuments({ user_id: owner.userId })) === 0)
  })

  it('report a file that cannot be read, and take either file_ids or files', async () => {
    const { client } = await v1Client(service)
    const bad = await upload(client, 'bad.pdf', '%PDF-1.7\nThe rest is missing.')
    const { id: store } = await client.vectorStores.create({})
    const batch = await client.vectorStores.fileBatches.createAndPoll(store, { file_ids: [bad] }, poll)
    expect(batch).toMatchObject({ status: 'completed', file_counts: { failed: 1, total: 1 } })
    const entry = await client.vectorStores.files.retrieve(bad, { vector_store_id: store })
    expect(entry).toMatchObject({ status: 'failed', last_error: { code: 'invalid_file' } })
    const refused = async (body: OpenAI.VectorStores.FileBatchCreateParams) => {
      const { status, param } = await refusalOf(client.vectorStores.fileBatches.create(store, body))
      return [status, param]
    }
    expect(await refused({})).toEqual([400, 'file_ids'])
    expect(await refused({ file_ids: [bad], files: [{ file_id: bad }] })).toEqual([400, 'file_ids'])
    expect((await refused({ file_ids: ['unknown'] }))[0]).toBe(404)
  })

  it('are cut as their caller says', async () => {
    const { client } = await v1Client(service)
    const words = Array.from({ length: 2000 }, (_, index) => `The number of this line is ${index}.`).join('\n')
    const file = await upload(client, 'long.txt', words)
    const chunksOf = async (most: number, overlap: number) => {
      const chunking_strategy = {
        type: 'static',
        static: { max_chunk_size_tokens: most, chunk_overlap_tokens: overlap },
      } as const
      const { id: store } = await client.vectorStores.create({ file_ids: [file], chunking_strategy })
      await eventually('the ingestion', async () => (await client.vectorStores.retrieve(store)).status === 'completed')
      const entry = await client.vectorStores.files.retrieve(file, { vector_store_id: store })
      expect(entry).toMatchObject({ status: 'completed', chunking_strategy })
      return (await client.vectorStores.files.content(file, { vector_store_id: store })).data.map(({ text }) => text)
    }
    const [large, small] = [await chunksOf(4096, 0), await chunksOf(800, 400)]
    expect(large.length).toBeLessThan(10)
    expect(small.length).toBeGreaterThan(30)
    expect(large.join('\n')).toBe(words)
    const refused = await refusalOf(chunksOf(4097, 0))
    expect([refused.status, refused.param]).toEqual([400, 'chunking_strategy.static.max_chunk_size_tokens'])
    expect((await refusalOf(chunksOf(400, 201))).param).toBe('chunking_strategy.static.chunk_overlap_tokens')
  })

  it('an assistant is created with a vector store of its own', async () => {
    const { client } = await v1Client(service)
    const file = await upload(client, 'a.txt', 'Some words.')
    const assistant = await client.beta.assistants.create({
      model: 'm',
      tools: [{ type: 'file_search' }],
      tool_resources: { file_search: { vector_stores: [{ file_ids: [file], metadata: { a: 'b' } }] } },
    })
    const [store = ''] = assistant.tool_resources?.file_search?.vector_store_ids ?? []
    await eventually('the ingestion', async () => (await client.vectorStores.retrieve(store)).status === 'completed')
    expect(await client.vectorStores.retrieve(store)).toMatchObject({
      metadata: { a: 'b' },
      file_counts: { completed: 1, total: 1 },
    })
    const wrong = await refusalOf(
      client.beta.assistants.create({
        model: 'm',
        tool_resources: { file_search: { vector_store_ids: [store], vector_stores: [{}] } },
      }),
    )
    expect([wrong.status, wrong.param]).toEqual([400, 'tool_resources.file_search.vector_stores'])
    expect((await client.vectorStores.list()).data).toHaveLength(1)
  })
})
