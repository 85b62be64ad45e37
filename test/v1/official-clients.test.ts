import { expect, describe, it } from 'vitest'
import { installTimeoutMs } from '../support/python-packages.ts'
import { useSharedService } from '../support/shared-service.ts'
import { answer } from './frameworks/answering-model.ts'
import { officialClients, officialThreads } from './frameworks/run-framework.ts'
import { v1Client } from './v1-client.ts'

/** The smallest PNG. */
const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe('the official client on /v1, with address and key only', () => {
  const service = useSharedService({ respond: answer })

  it.each(Object.entries(officialClients))(
    '%s: files, vector stores and assistants',
    async (_name, run) => {
      const { client } = await v1Client(service)
      expect(await run({ BASE_URL: `${service.url}/v1`, KEY: client.apiKey ?? '', MODEL: 'scripted' })).toEqual({
        content: 'Open until five.',
        file: ['file', 'vector_store.file', 'completed'],
        found: ['a.txt'],
        assistant: ['assistant', 'Helper', { team: 'blue' }],
        listed: ['Helper'],
        refused: ['BadRequestError', 400, 'tools[0].type', 'unsupported_parameter'],
        deleted: [true, true, true],
      })
    },
    installTimeoutMs + 120_000,
  )

  it.each(Object.entries(officialThreads))(
    '%s: threads, and runs that wait for a function of the client',
    async (_name, run) => {
      const { client } = await v1Client(service)
      const given = { BASE_URL: `${service.url}/v1`, KEY: client.apiKey ?? '', MODEL: 'scripted', PICTURE: picture }
      expect(await run(given)).toEqual({
        waiting: ['requires_action', 'get_weather', { city: 'Paris' }],
        done: 'completed',
        told: [true, '{"city":"Paris"}'],
        streamed: ['requires_action', 'completed', 'It is rainy in Paris.'],
        said: [
          'user: The weather in Paris?',
          'assistant: It is sunny in Paris.',
          'user: And now?',
          'assistant: It is rainy in Paris.',
        ],
        steps: ['tool_calls', 'message_creation'],
        attached: [['text', 'image_url'], [[true, 'file_search']], 1],
        deleted: true,
      })
    },
    installTimeoutMs + 120_000,
  )
})
