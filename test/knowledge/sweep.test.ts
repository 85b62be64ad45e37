import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { countAssistantKnowledge, deleteAssistantKnowledge } from '../../services/knowledge/delete-knowledge.ts'
import { deleteKnowledgeOrphans, findKnowledgeOrphans } from '../../services/knowledge/sweep.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useModelService } from '../support/model-service.ts'
import { insertUser } from '../support/users.ts'

describe('knowledge that nobody owns any more', () => {
  const service = useModelService({ env: { EMBEDDING_DIMENSIONS: '32' } })

  const stores = () => ({ collections: service.collections, ...service.api.infra.knowledge })
  const longAgo = new Date(Date.now() - 2 * 60 * 60_000)

  it('is found and removed, and what has an owner stays', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { body } = await client.upload([{ name: 'kept.txt', content: 'Kept.' }])
    const keptFile = body.files[0].id
    const { blobs, vectors } = service.api.infra.knowledge
    const vector = Array.from({ length: 32 }, () => 0.1)
    await vectors.upsert(client.assistantId, [{ id: 'lost:0', fileId: 'lost', position: 0, text: 'lost', vector }])
    const strayAssistant = newId()
    await vectors.upsert(strayAssistant, [{ id: 'f:0', fileId: 'f', position: 0, text: 'stray', vector }])
    const chunk = { file_id: 'lost', assistant_id: client.assistantId, position: 0, text: 'lost', tokens: 1 }
    await service.collections.chunks.create({ _id: 'lost:0', ...chunk })
    const { blob_id: blobId } = (await service.collections.files.findById(keptFile).lean()) ?? { blob_id: '' }
    const abandoned = await blobs.write(blobs.newBlobId(), Readable.from([Buffer.from('half an upload')]))
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
      chunks: [{ assistantId: client.assistantId, fileId: 'lost' }],
      blobs: [],
      vectors: expect.arrayContaining([
        { assistantId: client.assistantId, fileId: 'lost' },
        { assistantId: strayAssistant },
      ]),
    })
    await deleteKnowledgeOrphans(stores(), orphans)
    expect(await findKnowledgeOrphans(stores())).toEqual({ files: [], chunks: [], blobs: [], vectors: [] })
    expect(await blobs.count([abandoned.blobId, blobId])).toBe(1)
    expect((await client.list()).body.files).toEqual(body.files)
  })

  it('goes with its assistant, however often that is repeated', async () => {
    const client = await knowledgeClient(await insertUser(service))
    await client.upload([
      { name: 'a.txt', content: 'One.' },
      { name: 'b.txt', content: 'Two.' },
    ])
    const found = { files: 2, chunks: 2, vectors: 2, blobs: 2 }
    expect(await countAssistantKnowledge(stores(), client.assistantId)).toEqual(found)
    expect(await deleteAssistantKnowledge(stores(), client.assistantId)).toEqual(found)
    const nothing = { files: 0, chunks: 0, vectors: 0, blobs: 0 }
    expect(await countAssistantKnowledge(stores(), client.assistantId)).toEqual(nothing)
    expect(await deleteAssistantKnowledge(stores(), client.assistantId)).toEqual(nothing)
    const { db } = service.api.infra.database.connection
    const pieces = await db?.collection('blobs.chunks').distinct('files_id')
    expect(pieces).toHaveLength(await service.collections.files.countDocuments())
  })
})
