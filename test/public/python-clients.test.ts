import { beforeAll, describe, expect, it } from 'vitest'
import { pythonWithClients, runPython } from '../support/python-clients.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import type { ChatRequest } from '../support/scripted-model.ts'
import { useSharedService } from '../support/shared-service.ts'
import { newPublicAssistant } from './public-assistant.ts'

const usage = { prompt_tokens: 6, completion_tokens: 2 }

/** Says back what it was asked; fails when it is told to. */
function echo({ body }: ChatRequest) {
  const asked = String(body.messages.at(-1)?.content)
  return asked === 'failure' ? { status: 400 } : { text: ['You said: ', asked], usage }
}

describe.each(['/public/compat/v1', '/public/v1'])('the Python clients at %s, with address and key only', (base) => {
  const service = useSharedService({ respond: echo })
  let python: string

  beforeAll(async () => {
    python = await pythonWithClients()
  }, installTimeoutMs)

  it('chat, stream, list, run threads, and report refusals', async () => {
    const { id, token } = await newPublicAssistant(service)
    const printed = await runPython(python, 'test/public/python-clients.py', {
      COMPAT_BASE_URL: `${service.url}${base}`,
      COMPAT_TOKEN: token,
    })
    const seen = JSON.parse(printed)
    expect(seen).toMatchObject({
      models: [id],
      assistant: { id, object: 'assistant', instructions: null },
      completion: {
        object: 'chat.completion',
        choices: [{ finish_reason: 'stop', message: { content: 'You said: completion' } }],
        usage: { total_tokens: 8 },
      },
      chunks: 'You said: chunks',
      chunk_usage: 8,
      thread: { object: 'thread', metadata: { from: 'python' } },
      run: { object: 'thread.run', status: 'completed', assistant_id: id, usage: { total_tokens: 8 } },
      streamed: 'You said: You said: more',
      final: 'You said: You said: more',
      said: ['thread', 'more', 'You said: more', 'You said: You said: more'],
      steps: ['message_creation'],
      failure: { code: 'model_refused_request' },
      refusal: { status: 401, code: 'invalid_api_key' },
      langchain: { text: 'You said: langchain', usage: 8 },
      langchain_stream: 'You said: langchain stream',
    })
    expect(seen.events[0]).toBe('thread.run.created')
    expect(seen.events.at(-1)).toBe('thread.run.completed')
  }, 180_000)
})
