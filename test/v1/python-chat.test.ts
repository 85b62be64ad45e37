import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { runPython } from '../support/python-clients.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import type { ChatRequest, ScriptedReply } from '../support/scripted-model.ts'
import { useSharedService } from '../support/shared-service.ts'
import { officialPythons } from './frameworks/run-framework.ts'
import { v1Client } from './v1-client.ts'

const usage = { prompt_tokens: 6, completion_tokens: 2 }
const place = { city: 'Bonn', people: 335_000 }

/** What the model answers to each question of the program. */
function respond({ body }: ChatRequest): ScriptedReply {
  const last = body.messages.at(-1)
  if (body.model === 'unknown') return { status: 404, errorMessage: 'The model `unknown` does not exist' }
  if (last?.role === 'tool') return { text: String(last.content), usage }
  switch (last?.content) {
    case 'stream':
      return { text: ['One ', 'two'], usage }
    case 'tools':
      return { toolCalls: [{ id: 'call-1', name: 'weather', arguments: { city: 'Bonn' } }], usage }
    case 'parse':
      return { text: JSON.stringify(place), usage }
    case 'too long':
      return { text: '{"city": "Bo', finishReason: 'length', usage }
    case 'keep':
      return { text: 'Kept', usage }
    default:
      return { text: JSON.stringify(last?.content).includes('data:image/png') ? 'A picture' : 'Something else', usage }
  }
}

describe('the Python client and chat completions of /v1', () => {
  const service = useSharedService({ respond })

  it.each(Object.entries(officialPythons))(
    'version %s streams, calls functions, parses, sends pictures, keeps, and understands refusals',
    async (_major, programs) => {
      const { client } = await v1Client(service)
      const printed = await runPython(path.join(await programs(), 'python'), 'test/v1/python-chat.py', {
        V1_BASE_URL: client.baseURL,
        V1_KEY: String(client.apiKey),
        V1_MODEL: service.settings.defaultModel,
        V1_PICTURE: path.join(import.meta.dirname, '../knowledge/fixtures/picture.png'),
      })
      const seen = JSON.parse(printed)
      expect(seen).toMatchObject({
        streamed: 'One two',
        stream_usage: 8,
        final: 'One two',
        finish: 'tool_calls',
        call: ['weather', { city: 'Bonn' }],
        after_tools: 'Rain in Bonn',
        parsed: place,
        cut: 'length',
        picture: 'A picture',
        kept: { listed: true, read: 'Kept', messages: ['keep'], updated: { team: 'red' }, deleted: true },
        refused: [
          { type: 'BadRequestError', status: 400, code: 'unsupported_parameter', param: 'prediction' },
          { type: 'BadRequestError', status: 400, param: 'temperature' },
          { type: 'NotFoundError', status: 404, code: 'model_not_found', param: 'model' },
          { type: 'NotFoundError', status: 404, code: 'not_found' },
          { type: 'AuthenticationError', status: 401, code: 'invalid_api_key' },
        ],
      })
      expect(seen.events.at(-1)).toBe('content.done')
      const parsedRequest = service.model.requests.find(({ body }) => body.messages.at(-1)?.content === 'parse')
      expect(parsedRequest?.body['response_format']).toMatchObject({
        type: 'json_schema',
        json_schema: { name: 'Place', strict: true },
      })
    },
    installTimeoutMs + 60_000,
  )
})
