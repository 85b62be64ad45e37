import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import {
  countAssistantKnowledge,
  deleteAssistantKnowledge,
  knowledgeKinds,
} from '../../services/knowledge/delete-knowledge.ts'
import { deleteKnowledgeOrphans, findKnowledgeOrphans } from '../../services/knowledge/sweep.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useModelService } from '../support/model-service.ts'
import { insertUser } from '../support/users.ts'

describe('orphaned knowledge', () => {
  const service = useModelService({ env: { EMBEDDING_DIMENSIONS: '32' } })

  const stores = () => ({ collections: service.collections, ...service.api.infra.knowledge })
  const longAgo = new Date(Date.now() - 2 * 60 * 60_000)

  it('is found and removed, and owned knowledge is kept', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { body } = await client.upload([{ name: 'kept.txt', content: 'Kept.' }])
    const keptFile = body.files[0].id
    const { blobs, vectors } = service.api.infra.knowledge
    const vector = Array.from({ length: 32 }, () => 0.1)
    await vectors.upsert(client.assistantId, [{ id: 'lost:0', fileId: 'lost', position: 0, text: 'lost', vector }])
    const strayAssistant = newId()
    await vectors.upsert(strayAssistant, [{ id: 'f:0', fileId: 'f', position: 0, text: 'stray', vector }])
    // What changes of the embedding model left, and what one under way fills.
    const ofKept = [{ id: `${keptFile}:0`, fileId: keptFile, position: 0, text: 'kept', vector }]
    const [left, filled] = [vectorSpace(client.assistantId, 3), vectorSpace(client.assistantId, 4)]
    for (const space of [left, filled]) await vectors.upsert(space, ofKept)
    const reembedding = { generation: 4, model: 'next', started_at: new Date() }
    await service.collections.assistants.updateOne({ _id: client.assistantId }, { $set: { reembedding } })
    const chunk = { _id: 'lost:0', file_id: 'lost', assistant_id: client.assistantId, position: 0, count: 1 }
    await service.collections.chunks.create({ ...chunk, chunks_json: JSON.stringify([{ text: 'lost', tokens: 1 }]) })
    const { blob_id: blobId } = (await service.collections.files.findById(keptFile).lean()) ?? { blob_id: '' }
    const abandoned = await blobs.write(
      blobs.newBlobId(),
      client.assistantId,
      Readable.from(['half', ' an ', 'upload'].map((text) => Buffer.from(text))),
    )
    const record = await service.collections.files.findById(keptFile).lean().orFail()
    const upload = {
      ...record,
      _id: newId(),
      blob_id: abandoned.blobId,
      status: 'uploading' as const,
      updated_at: longAgo,
    }
    await service.collections.files.create([upload])

    const orphans = await findKnowledgeOrphans(stores())
    expect(orphans).toEqual({
      files: [upload._id],
      chunks: [{ assistantId: client.assistantId, contentId: 'lost' }],
      blobs: [],
      vectors: expect.arrayContaining([
        { space: client.assistantId, fileId: 'lost' },
        { space: strayAssistant },
        { space: left },
      ]),
    })
    await deleteKnowledgeOrphans(stores(), orphans)
    expect(await findKnowledgeOrphans(stores())).toEqual({ files: [], chunks: [], blobs: [], vectors: [] })
    expect(await vectors.count(filled)).toBe(1)
    expect(await blobs.exists(abandoned.blobId)).toBe(false)
    expect(await blobs.exists(blobId)).toBe(true)
    expect((await client.list()).body.files).toEqual(body.files)
  })

  it('is deleted with its assistant, also repeatedly', async () => {
    const client = await knowledgeClient(await insertUser(service))
    await client.upload([
      { name: 'a.txt', content: 'One.' },
      { name: 'b.txt', content: 'Two.' },
    ])
    // Bytes that no file record knows of, such as those of an upload that was cut off.
    const { blobs, vectors } = service.api.infra.knowledge
    const stray = await blobs.write(blobs.newBlobId(), client.assistantId, Readable.from([Buffer.from('stray')]))
    // Vectors of a change of the embedding model that was interrupted.
    const vector = Array.from({ length: 16 }, () => 0.1)
    await vectors.upsert(vectorSpace(client.assistantId, 2), [
      { id: 'f:0', fileId: 'f', position: 0, text: 'half', vector },
    ])
    const counts = () =>
      Promise.all(knowledgeKinds.map((kind) => countAssistantKnowledge(stores(), client.assistantId, kind)))
    expect(await counts()).toEqual([2, 2, 3, 3])
    await deleteAssistantKnowledge(stores(), client.assistantId)
    expect(await counts()).toEqual([0, 0, 0, 0])
    expect(await blobs.exists(stray.blobId)).toBe(false)
    await deleteAssistantKnowledge(stores(), client.assistantId)
    expect(await counts()).toEqual([0, 0, 0, 0])
    const { db } = service.api.infra.database.connection
    const pieces = await db?.collection('blobs.chunks').distinct('files_id')
    expect(pieces).toHaveLength(await service.collections.files.countDocuments())
  })
})
