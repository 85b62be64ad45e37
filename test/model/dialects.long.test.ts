import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModelServers } from '../../infra/model/model-server.ts'
import { createModelByKind } from '../../infra/model/routed-model.ts'
import { run } from '../../local/services/command.ts'
import { createTryModel } from '../../services/admin/try-model.ts'
import { createAnswer } from '../../services/runs/answer.ts'
import type { ChatRequest } from '../../services/runs/chat-model.ts'
import { inForm } from '../support/long-form.ts'
import { installTimeoutMs, pythonPrograms } from '../support/python-packages.ts'
import { startLlamaServer } from './dialects/llama-server.ts'
import { conversation } from './litellm/conversation.ts'

const silenceMs = 60_000
const chat = createModelByKind({ ownFetch: fetch, guardedFetch: fetch, silenceMs })
const servers = createModelServers(fetch)
const weather = {
  name: 'weather',
  description: 'The weather in a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', maxLength: 20 }, days: { type: 'array', items: { type: 'integer' } } },
    required: ['city'],
  },
}
const form = {
  type: 'json_schema' as const,
  json_schema: {
    name: 'sum',
    strict: true,
    schema: {
      type: 'object',
      properties: { sum: { type: 'integer' }, words: { type: 'string', maxLength: 20 } },
      required: ['sum', 'words'],
      additionalProperties: false,
    },
  },
}
/** The end of an answer. A model that may not say it goes on. */
const endToken = 2

describe("llama.cpp's server", () => {
  let folder: string
  let server: Awaited<ReturnType<typeof startLlamaServer>>
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'llama-'))
    server = await startLlamaServer(path.join(folder, 'chat.gguf'), 'chat')
  }, installTimeoutMs)
  afterAll(async () => {
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  const account = () => ({ apiKey: 'none', baseUrl: `${server.url}/v1` })
  const stream = (asked: Partial<ChatRequest> = {}) =>
    chat.stream({
      account: { ...account(), setByUser: false },
      model: 'tiny',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      tools: [],
      temperature: 1,
      maxTokens: 300,
      sampling: {},
      responseFormat: undefined,
      signal: AbortSignal.timeout(silenceMs),
      ...asked,
    })
  async function answerTo(asked: Partial<ChatRequest>) {
    const answer = createAnswer('run-0')
    for await (const delta of stream(asked)) if (delta.type !== 'model') answer.add(delta)
    return { ...answer.message().data, unreadable: answer.unreadableCalls() }
  }
  const rounds = Array.from({ length: inForm({ long: 30, short: 5 }) }, (_, seed) => seed)

  it('is found with its model and its window, also by its address alone', async () => {
    const found = await servers.list({ apiKey: 'none', baseUrl: server.url }, AbortSignal.timeout(silenceMs))
    // It answers there, too.
    expect(found.baseUrl).toBe(server.url)
    expect(found.models).toEqual([{ id: 'tiny', contextTokens: 4096 }])
  })

  it('streams answers in pieces, with the tokens that it counted', async () => {
    for (const seed of rounds) {
      const pieces: string[] = []
      let usage
      for await (const delta of stream({ sampling: { seed } })) {
        if (delta.type === 'text') pieces.push(delta.text)
        if (delta.type === 'usage') usage = delta.usage
      }
      expect(pieces.length).toBeGreaterThan(1)
      expect(usage?.prompt_tokens).toBeGreaterThan(10)
      expect(usage?.completion_tokens).toBeGreaterThan(1)
    }
  })

  it('calls a required tool with arguments that fit, and takes the result', async () => {
    for (const seed of rounds) {
      const tools = { tools: [weather], toolChoice: 'required' as const, sampling: { seed }, maxTokens: 2000 }
      const { tool_calls: [call] = [], unreadable } = await answerTo(tools)
      expect(call).toMatchObject({ name: 'weather', args: { city: expect.any(String) } })
      expect(unreadable.size).toBe(0)
      const { id = '', name = '' } = call ?? {}
      const { content } = await answerTo({
        tools: [weather],
        toolChoice: 'none',
        sampling: { seed },
        messages: [
          { role: 'user', content: 'How is the weather?' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(call?.args) } }],
          },
          { role: 'tool', tool_call_id: id, content: 'Sunny' },
        ],
      })
      expect(typeof content).toBe('string')
    }
  })

  it('answers JSON that fits a schema', async () => {
    for (const seed of rounds) {
      const { content } = await answerTo({ responseFormat: form, sampling: { seed }, maxTokens: 2000 })
      expect(JSON.parse(content)).toEqual({ sum: expect.any(Number), words: expect.any(String) })
    }
  })

  it('stops at a limit, and at a text', async () => {
    const cut = await answerTo({ maxTokens: 5, logitBias: { [endToken]: -100 } })
    expect(cut).toMatchObject({ cut: 'length', usage: { completion_tokens: 5 } })
    const stopped = await answerTo({ sampling: { stop: ['}'] }, maxTokens: 4000 })
    expect(stopped.content).not.toContain('}')
    expect(stopped.cut).toBeUndefined()
  })

  it('works no longer on an answer that was cancelled', async () => {
    const cancel = new AbortController()
    const asked = stream({ maxTokens: 4000, logitBias: { [endToken]: -100 }, signal: cancel.signal })
    const reading = async () => {
      for await (const delta of asked) if (delta.type === 'text') cancel.abort()
    }
    await expect(reading()).rejects.toMatchObject({ name: 'AbortError' })
    await expect
      .poll(async () => JSON.stringify(await slots()), { timeout: 20_000 })
      .not.toContain('"is_processing":true')
  })

  it('is tried as operators try it', async () => {
    const trial = await createTryModel({ chat, servers, listedWindow: () => 1 })(account(), 'tiny')
    expect(trial).toMatchObject({ context_tokens: 4096, context_source: 'server', json: { works: true } })
    expect(trial.embeddings).toMatchObject({ works: false, dimensions: null })
  })

  it('makes vectors, where it was started for them', async () => {
    const other = await startLlamaServer(path.join(folder, 'embeddings.gguf'), 'embeddings')
    try {
      const at = { apiKey: 'none', baseUrl: `${other.url}/v1` }
      expect(await servers.embeddingLength(at, 'tiny', AbortSignal.timeout(silenceMs))).toBe(64)
    } finally {
      await other.kill()
    }
  })

  it('is told apart from an answer when it dies in the middle of one', async () => {
    const mortal = await startLlamaServer(path.join(folder, 'mortal.gguf'), 'chat')
    const asked = stream({
      account: { apiKey: 'none', baseUrl: `${mortal.url}/v1`, setByUser: false },
      maxTokens: 4000,
      logitBias: { [endToken]: -100 },
    })
    const reading = async () => {
      for await (const delta of asked) if (delta.type === 'text') await mortal.kill()
    }
    await expect(reading()).rejects.toMatchObject({ type: 'model_connection_error', retryable: true })
    await expect(
      answerTo({ account: { apiKey: 'none', baseUrl: `${mortal.url}/v1`, setByUser: false } }),
    ).rejects.toMatchObject({ message: 'The model could not be reached.', retryable: true })
  })

  async function slots(): Promise<unknown> {
    return (await fetch(`${server.url}/slots`)).json()
  }
})

describe('LiteLLM', () => {
  it(
    'sends what was recorded of it',
    async () => {
      const python = path.join(await pythonPrograms('litellm', ['litellm==1.110.2']), 'python')
      const script = path.join(import.meta.dirname, 'litellm', 'sent.py')
      const said = await run(python, [script, JSON.stringify(conversation)])
      const recorded = path.join(import.meta.dirname, 'litellm', 'sent.json')
      expect(JSON.parse(said)).toEqual(JSON.parse(await readFile(recorded, 'utf8')))
    },
    installTimeoutMs,
  )
})
