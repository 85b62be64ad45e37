import { describe, expect, it } from 'vitest'
import { fileDeletionContract } from '../../domain/contracts/file-deletion.ts'
import { ingestionContract } from '../../domain/contracts/ingestion.ts'
import { reembeddingContract } from '../../domain/contracts/reembedding.ts'
import { historyText, recordHistory } from '../support/histories.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

describe('the histories of ingestions', () => {
  const service = useSharedService()

  it('contain neither text nor name of a file, and have a readable summary', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { body } = await client.upload([
      { name: 'salaries.txt', content: 'The harbour master earns 73,500 marks.' },
      { name: 'scan.png', content: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13) },
      { name: 'tides.md', content: '# Tides\n\nHigh water is at noon.' },
    ])
    const statuses = body.files.map((file: { metadata: { status: string } }) => file.metadata.status)
    expect(statuses).toEqual(['ready', 'failed', 'ready'])
    const [{ id: fileId }] = body.files
    expect((await client.call('DELETE', `/assistants/${client.assistantId}/files/${fileId}`)).status).toBe(200)
    const model = { embedding_model: 'old-model (32 dimensions)' }
    await service.collections.assistants.updateOne({ _id: client.assistantId }, { $set: model })
    await client.call('POST', `/assistants/${client.assistantId}/reembedding`)

    const { workflow } = service.temporal
    const ingestion = workflow.getHandle(ingestionContract.id({ ingestionId: body.ingestion_id }))
    const deletion = workflow.getHandle(fileDeletionContract.id({ fileId }))
    const reembedding = workflow.getHandle(reembeddingContract.id({ ...client, generation: 1 }))
    expect(await reembedding.result()).toBe('done')
    const histories = {
      ingestion: await ingestion.fetchHistory(),
      'file-deletion': await deletion.fetchHistory(),
      reembedding: await reembedding.fetchHistory(),
    }
    for (const [name, history] of Object.entries(histories)) {
      await recordHistory(name, history)
      const text = historyText(history)
      expect(text).toContain(client.assistantId)
      for (const secret of ['73,500', 'earns', 'salaries', 'tides.md', 'noon', client.token]) {
        expect(text).not.toContain(secret)
      }
    }
    expect(await (await ingestion.describe()).staticSummary()).toContain('3 file(s)')
    expect(await (await deletion.describe()).staticSummary()).toContain(fileId)
  })

  it('are found by assistant, project and user', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { body } = await client.upload([{ name: 'a.txt', content: 'A text.' }])
    const found = await service.temporal.workflow
      .getHandle(ingestionContract.id({ ingestionId: body.ingestion_id }))
      .describe()
    const attributes = Object.fromEntries(
      [...found.typedSearchAttributes.getAll()].map(({ key, value }) => [key.name, value]),
    )
    expect(attributes).toMatchObject({
      AssistantId: client.assistantId,
      ProjectId: client.projectId,
      UserId: client.userId,
    })
  })
})
