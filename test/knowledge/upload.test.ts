import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { chunksOf } from '../../domain/records/chunk-group.ts'
import { createLogger } from '../../infra/logger.ts'
import { startWorker } from '../../worker/start-worker.ts'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { startModelService } from '../support/model-service.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

describe('uploading files', () => {
  const service = useSharedService()

  it('stores several files in order, and is answered when they are ready', async () => {
    const { upload, list, assistantId } = await knowledgeClient(await insertUser(service))
    const text = 'The dredging of the western basin cost 73,500 marks.'
    const answer = await upload([
      // As macOS sends it.
      { name: 'Kostenübersicht.txt'.normalize('NFD'), content: text },
      { name: 'ships.csv', content: 'Ship,Tons\nAmalia,1180\nNordstern,960\n' },
      { name: 'empty.txt', content: '' },
      { name: 'ships.csv', content: 'Ship,Tons\nBrandt,12\n' },
    ])
    expect(answer.status).toBe(200)
    expect(answer.body.files.map((file: any) => [file.name, file.metadata.status])).toEqual([
      ['Kostenübersicht.txt', 'ready'],
      ['ships.csv', 'ready'],
      ['empty.txt', 'failed'],
      ['ships.csv', 'ready'],
    ])
    const [first, second, third] = answer.body.files
    expect(first).toEqual({
      id: expect.any(String),
      name: 'Kostenübersicht.txt',
      size: text.length,
      metadata: {
        content_type: 'text/plain',
        status: 'ready',
        chunks: 1,
        embedded: 1,
        characters: expect.any(Number),
        sha256: createHash('sha256').update(text).digest('hex'),
        created_by: expect.objectContaining({ user_id: expect.any(String) }),
        created_at: expect.any(String),
      },
    })
    expect(second.metadata.content_type).toBe('text/csv')
    expect(third.metadata.error).toBe('This file is empty.')
    expect((await list()).body).toEqual({ files: answer.body.files })
    const chunks = await service.collections.chunks.find({ assistant_id: assistantId }).lean()
    expect(chunks.flatMap(chunksOf).map((chunk) => chunk.text)).toContain(
      'Ship: Amalia; Tons: 1180\nShip: Nordstern; Tons: 960',
    )
    expect(await service.api.infra.knowledge.vectors.count(assistantId)).toBe(3)
  })

  it('removes a file with everything made from it', async () => {
    const { upload, list, call, assistantId } = await knowledgeClient(await insertUser(service))
    const { body } = await upload([
      { name: 'a.txt', content: 'first file about ships' },
      { name: 'b.txt', content: 'second file about trains' },
    ])
    const [a, b] = body.files
    const path = `/assistants/${assistantId}/files`
    const deleted = await call('DELETE', `${path}/${a.id}`)
    expect(deleted.body).toEqual({ id: a.id, deleted: true, receipt_id: a.id })
    expect((await list()).body.files).toEqual([b])
    const { vectors } = service.api.infra.knowledge
    expect(await vectors.count(assistantId, a.id)).toBe(0)
    expect(await vectors.count(assistantId, b.id)).toBe(1)
    expect(await service.collections.chunks.countDocuments({ file_id: a.id })).toBe(0)
    expect((await call('DELETE', `${path}/${a.id}`)).status).toBe(404)
    expect((await call('DELETE', `${path}/${newId()}`)).status).toBe(404)
    expect((await call('DELETE', `/assistants/${newId()}/files/${b.id}`)).status).toBe(404)
  })
})

describe('removing a file', () => {
  it('returns 202 when it takes longer than the request waits, and the receipt shows its end', async () => {
    const service = await startModelService({
      env: { EMBEDDING_DIMENSIONS: '16', DELETION_WAIT_SECONDS: '0' },
      worker: false,
    })
    try {
      const client = await knowledgeClient(await insertUser(service))
      const { body } = await client.upload([{ name: 'a.txt', content: 'A text.' }], '?wait=false')
      const [{ id }] = body.files
      const path = `/assistants/${client.assistantId}/files/${id}`
      const pending = { status: 202, body: { id, deleted: false, receipt_id: id } }
      expect(await client.call('DELETE', path)).toMatchObject(pending)
      const receipt = async () => (await client.call('GET', `/receipts/${id}`)).body
      expect(await receipt()).toMatchObject({ status: 'running', completed_at: null })
      expect(await client.call('DELETE', path)).toMatchObject(pending)
      const worker = await startWorker(service.settings, createLogger('test', 'silent'))
      try {
        await eventually('the end', async () => (await receipt()).status === 'complete')
        expect(await receipt()).toMatchObject({ left: { files: 0, chunks: 0, vectors: 0, blobs: 0 } })
        expect((await client.call('DELETE', path)).status).toBe(404)
        expect((await client.list()).body.files).toEqual([])
      } finally {
        await worker.close()
      }
    } finally {
      await service.close()
    }
  })
})
