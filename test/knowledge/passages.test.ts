import { afterAll, beforeAll, expect, test } from 'vitest'
import { knowledgeClient } from '../support/knowledge.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

let model: ScriptedModel
let service: TestService
beforeAll(async () => {
  model = await startScriptedModel()
  service = await startService({ env: model.env })
})
afterAll(async () => {
  await service.close()
  await model.close()
})

const guide = '# Opening hours\n\nThe harbour office opens at six.\n\n# Fees\n\nA berth costs twelve marks a night.\n'

test('an owner sees the chunks of a file in pages, and the passages for a query', async () => {
  const client = await knowledgeClient(await insertUser(service))
  const { body } = await client.upload([{ name: 'guide.md', content: guide }])
  const [file] = body.files
  const path = `/assistants/${client.assistantId}/files`

  const { chunks, total } = await client.get(`${path}/${file.id}/chunks`)
  expect(total).toBe(file.metadata.chunks)
  expect(chunks.map(({ position }: any) => position)).toEqual([...chunks.keys()])
  expect(chunks.map(({ text }: any) => text).join('\n')).toContain('twelve marks')
  const rest = await client.get(`${path}/${file.id}/chunks?limit=1&offset=${total - 1}`)
  expect(rest.chunks).toEqual(chunks.slice(-1))
  expect((await client.call('GET', `${path}/no-such-file/chunks`)).status).toBe(404)

  const { passages } = await client.post(`${path}/search`, { query: 'What does a berth cost?', limit: 1 })
  expect(passages).toHaveLength(1)
  expect(passages[0]).toMatchObject({ file_id: file.id, file_name: 'guide.md', text: expect.stringContaining('berth') })
})

test('a failing model server makes the search unavailable, without details in the error', async () => {
  const client = await knowledgeClient(await insertUser(service))
  await client.upload([{ name: 'guide.md', content: guide }])
  model.embeddings.fail({ status: 400, times: 20 })
  const { status, body } = await client.call('POST', `/assistants/${client.assistantId}/files/search`, { query: 'x' })
  expect(status).toBe(503)
  expect(body.detail).not.toMatch(/scripted/)
})
