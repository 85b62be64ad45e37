import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoModelEnv } from '../../local/demo-model-settings.ts'
import { createDemoModel } from '../../local/demo-model/server.ts'
import type { ApiClient } from '../support/api-client.ts'
import { type TestService, startService } from '../support/service.ts'
import { allEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

/** What a developer sees who starts the service without a model key and uploads a file. */
describe('a conversation with the demo model about a file', () => {
  const demo = createDemoModel({ tokenDelayMs: 0 })
  let service: TestService
  let client: ApiClient

  beforeAll(async () => {
    demo.listen(0, '127.0.0.1')
    await once(demo, 'listening')
    const address = demo.address() as AddressInfo
    service = await startService({ env: demoModelEnv(address.port) })
    client = await insertUser(service)
  })
  afterAll(async () => {
    await service.close()
    demo.close()
    demo.closeAllConnections()
  })

  it('searches for the question and quotes the file with its name', async () => {
    const { assistant_id } = await client.post('/assistants/', { name: 'Librarian' })
    const form = new FormData()
    const handbook = 'The office opens at eight.\n\nThe coffee machine is cleaned every Thursday by the night shift.\n'
    form.append('files', new Blob([handbook], { type: 'text/plain' }), 'handbook.txt')
    const upload = await client.post(`/assistants/${assistant_id}/files`, form)
    expect(upload).toMatchObject({ files: [{ name: 'handbook.txt', metadata: { status: 'ready' } }] })

    const { thread_id } = await client.post('/threads/', {})
    const input = [{ type: 'human', content: 'When is the coffee machine cleaned?' }]
    const events = await allEvents(await client.fetch('POST', '/runs/stream', { thread_id, assistant_id, input }))
    expect(events.at(-1)?.event).toBe('end')

    const { values } = await client.get(`/threads/${thread_id}/state`)
    expect(values.messages).toMatchObject([
      { type: 'HumanMessage' },
      { type: 'AIMessage', data: { tool_calls: [{ name: 'retrieval', args: { query: input[0]?.content } }] } },
      { type: 'ToolMessage', data: { name: 'retrieval', content: expect.stringContaining('handbook.txt') } },
      { type: 'AIMessage', data: { content: expect.stringContaining('demo model') } },
    ])
    expect(values.messages[3].data.content).toContain('cleaned every Thursday by the night shift.” (handbook.txt')
  })
})
