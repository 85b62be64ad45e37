import { beforeAll, describe, expect, it } from 'vitest'
import { pythonWithClients, runPython } from '../support/python-clients.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import { useSharedService } from '../support/shared-service.ts'
import { v1Client } from './v1-client.ts'

describe('the Python client and responses of /v1', () => {
  const service = useSharedService({
    respond: ({ body }) => ({ text: String(body.messages.at(-1)?.content), usage }),
  })
  const usage = { prompt_tokens: 6, completion_tokens: 2 }
  let python: string

  beforeAll(async () => {
    python = await pythonWithClients()
  }, installTimeoutMs)

  it('creates, streams, parses, reads, deletes, and converses', async () => {
    const { client } = await v1Client(service)
    const printed = await runPython(python, 'test/v1/python-responses.py', {
      V1_BASE_URL: client.baseURL,
      V1_TOKEN: String(client.apiKey),
    })
    const seen = JSON.parse(printed)
    expect(seen).toMatchObject({
      first: 'first',
      read: 'first',
      usage: { input_tokens: 6, output_tokens: 2, total_tokens: 8 },
      input: ['second'],
      final: 'streamed',
      parsed: 'Bonn',
      background: 'background',
      gone: 404,
      items: ['before', 'after', 'after'],
      deleted: true,
    })
    expect(seen.events[0]).toBe('response.created')
    expect(seen.events.at(-1)).toBe('response.completed')
  }, 180_000)
})
