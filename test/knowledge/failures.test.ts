import { describe, expect, it } from 'vitest'
import { knowledgeClient } from '../support/knowledge.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

describe('a file that failed', () => {
  const service = useSharedService()

  async function failedFile() {
    const client = await knowledgeClient(await insertUser(service))
    service.model.embeddings.fail({ status: 400 })
    const { body } = await client.upload([{ name: 'a.txt', content: 'Tides of the harbour.' }])
    const [file] = body.files
    expect(file.metadata).toMatchObject({ status: 'failed', retryable: true })
    const path = `/assistants/${client.assistantId}/files/${file.id}/retry`
    const finished = (number: number) =>
      service.temporal.workflow.getHandle(`ingestion/${file.id}-retry-${number}`).result()
    return { client, file, path, finished, ingestionId: String(body.ingestion_id) }
  }

  it('because of the service is processed again on request, once for simultaneous requests', async () => {
    const { client, file, path, finished, ingestionId } = await failedFile()
    const before = service.model.embeddings.requests
    const gate = Promise.withResolvers<void>()
    service.model.embeddings.waitFor(gate.promise)
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.call('POST', path)))
    for (const { status, body } of answers) {
      expect(status).toBe(202)
      expect(body.ingestion_id).toBe(ingestionId)
      expect(body.file.id).toBe(file.id)
      expect(['queued', 'processing']).toContain(body.file.metadata.status)
      expect(body.file.metadata).not.toHaveProperty('error')
    }
    gate.resolve()
    expect(await finished(1)).toEqual({ ready: 1, failed: 0, gone: 0 })
    const { body } = await client.call('GET', `/assistants/${client.assistantId}/ingestions/${ingestionId}`)
    expect(body).toMatchObject({ status: 'done', files: [{ id: file.id, metadata: { status: 'ready', embedded: 1 } }] })
    expect(service.model.embeddings.requests - before).toBe(1)
    expect(await service.api.infra.knowledge.vectors.count(client.assistantId)).toBe(1)

    // Ready now: asking once more changes nothing.
    const again = await client.call('POST', path)
    expect(again.body.file.metadata.status).toBe('ready')
    expect(service.model.embeddings.requests - before).toBe(1)
    const record = await service.collections.files.findById(file.id).lean()
    expect(record?.retries).toBe(1)
  })

  it('can fail again, and be retried again', async () => {
    const { client, path, finished } = await failedFile()
    service.model.embeddings.fail({ status: 400 })
    await client.call('POST', path)
    expect(await finished(1)).toEqual({ ready: 0, failed: 1, gone: 0 })
    await client.call('POST', path)
    expect(await finished(2)).toEqual({ ready: 1, failed: 0, gone: 0 })
  })

  it('because it cannot be read is not retried, with the reason', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { body } = await client.upload([{ name: 'empty.txt', content: '' }])
    const [file] = body.files
    expect(file.metadata).toMatchObject({ status: 'failed', retryable: false, error: 'This file is empty.' })
    const answer = await client.call('POST', `/assistants/${client.assistantId}/files/${file.id}/retry`)
    expect(answer.status).toBe(409)
    expect(answer.body.detail).toContain('This file is empty.')
  })

  it('can be retried by its owner only', async () => {
    const { client, file, path } = await failedFile()
    const stranger = await insertUser(service)
    expect((await stranger.call('POST', path)).status).toBe(403)
    expect((await fetch(service.url + path, { method: 'POST' })).status).toBe(401)
    expect((await client.call('POST', path.replace(file.id, 'missing'))).status).toBe(404)
    const other = await knowledgeClient(client)
    expect((await other.call('POST', `/assistants/${other.assistantId}/files/${file.id}/retry`)).status).toBe(404)
    expect((await service.collections.files.findById(file.id).lean())?.status).toBe('failed')
  })
})
