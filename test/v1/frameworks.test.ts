import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { installTimeoutMs } from '../support/python-packages.ts'
import { useSharedService } from '../support/shared-service.ts'
import { answer } from './frameworks/answering-model.ts'
import { startCuttingProxy } from './frameworks/cutting-proxy.ts'
import { frameworks } from './frameworks/run-framework.ts'
import { clientWith, v1Client } from './v1-client.ts'

const text = 'It is sunny in Paris.'
const structured = { city: 'Paris', degrees: 21 }
const called = ['Paris']
const timeoutMs = installTimeoutMs + 180_000

const twice = (...words: string[]) => [...words, ...words]

/**
 * Each program is written for the vendor's own server and gets another address and key. Its first connection is cut
 * where it asks with `cut before`, and the framework's own retry asks again.
 */
describe('frameworks on /v1, with address and key only', () => {
  const service = useSharedService({ respond: answer })
  let proxy: Awaited<ReturnType<typeof startCuttingProxy>>
  let given: { BASE_URL: string; KEY: string; MODEL: string }
  beforeAll(async () => {
    proxy = await startCuttingProxy(service.url)
    const { client } = await v1Client(service)
    given = { BASE_URL: `${proxy.url}/v1`, KEY: client.apiKey ?? '', MODEL: 'scripted' }
  })
  afterAll(() => proxy.close())
  // Programs of one framework say the same words.
  beforeEach(() => proxy.cutAnew())

  it.each(['agentsNode', 'agentsPython'] as const)(
    '%s calls tools, streams, parses and repeats, with both interfaces',
    async (name) => {
      const seen = {
        tools: { text, called },
        streamed: { text, final: text, called },
        structured,
        retried: 'You said: cut before agents',
        streamCut: 'error',
        askedAgain: 'You said: cut in the middle agents',
      }
      expect(await frameworks[name](given)).toEqual({ chat: seen, responses: seen })
      expect(proxy.cut).toEqual(twice('cut before agents', 'cut in the middle agents'))
    },
    timeoutMs,
  )

  it.each(['langchainNode', 'langchainPython'] as const)(
    '%s runs agents and graphs with tools, streams, parses and repeats, with both interfaces',
    async (name) => {
      const seen = {
        tools: { text, called },
        streamed: { text, called },
        graph: { text, called },
        structured,
        agentStructured: structured,
        retried: 'You said: cut before langchain',
        streamRetried: 'You said: cut in the middle langchain',
      }
      expect(await frameworks[name](given)).toEqual({ chat: seen, responses: seen })
      expect(proxy.cut).toEqual(twice('cut before langchain', 'cut in the middle langchain'))
    },
    timeoutMs,
  )

  it(
    "Vercel's SDK calls tools in several steps, streams, makes objects and repeats, with both interfaces",
    async () => {
      const seen = (provider: string) => ({
        text,
        streamed: text,
        reason: 'stop',
        steps: 2,
        called: ['Paris', 'Paris'],
        object: structured,
        retried: `You said: cut before ${provider}`,
        streamCut: 'error',
        askedAgain: `You said: cut in the middle ${provider}`,
      })
      expect(await frameworks.aiSdk(given)).toEqual({
        chat: { openai: seen('openai'), compatible: seen('compatible') },
        responses: { openai: seen('openai') },
      })
      const ofOpenAi = proxy.cut.filter((words) => words.endsWith(' openai'))
      expect(ofOpenAi).toEqual(twice('cut before openai', 'cut in the middle openai'))
    },
    timeoutMs,
  )

  it(
    "LlamaIndex's OpenAI class runs an agent with tools, streams, parses and repeats",
    async () => {
      // The class knows the vendor's models only, so an assistant has the name of one.
      await clientWith(service, given.KEY).beta.assistants.create({ model: 'scripted', name: 'gpt-4o' })
      expect(await frameworks.llamaIndex({ ...given, MODEL: 'gpt-4o' })).toEqual({
        tools: { text, called },
        streamed: 'You said: Hello',
        structured,
        retried: 'You said: cut before llama',
        streamCut: 'error',
        askedAgain: 'You said: cut in the middle llama',
      })
      expect(proxy.cut).toEqual(['cut before llama', 'cut in the middle llama'])
    },
    timeoutMs,
  )

  it(
    'LiteLLM calls tools, streams, parses and repeats',
    async () => {
      const call = { name: 'get_weather', arguments: { city: 'Paris' } }
      expect(await frameworks.liteLlm(given)).toEqual({
        reason: 'tool_calls',
        call,
        text,
        streamedCall: call,
        streamed: text,
        stores: { name: 'Papers', found: 0 },
        structured,
        retried: 'You said: cut before litellm',
        streamCut: 'error',
        askedAgain: 'You said: cut in the middle litellm',
      })
      expect(proxy.cut).toEqual(['cut before litellm', 'cut in the middle litellm'])
    },
    timeoutMs,
  )

  it('Open WebUI lists models and chats, with the members that it sends', async () => {
    const headers = { authorization: `Bearer ${given.KEY}`, 'content-type': 'application/json' }
    const models = await fetch(`${service.url}/v1/models`, { headers })
    expect(JSON.parse(await models.text()).data.map(({ id }: { id: string }) => id)).toContain('scripted')
    const post = (body: object) =>
      fetch(`${service.url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) })
    const asked = { model: 'scripted', messages: [{ role: 'user', content: 'Hello' }] }
    const chat = await post({
      ...asked,
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.7,
      top_p: 0.9,
      max_tokens: 1000,
      frequency_penalty: 0,
      presence_penalty: 0,
      seed: 1,
      stop: ['<end>'],
      logit_bias: {},
    })
    expect(chat.headers.get('content-type')).toContain('text/event-stream')
    const events = (await chat.text()).split('\n').filter((line) => line.startsWith('data: '))
    const chunks = events.slice(0, -1).map((line) => JSON.parse(line.slice(6)))
    expect(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe('You said: Hello')
    expect(chunks.at(-1).usage.total_tokens).toBe(25)
    expect(events.at(-1)).toBe('data: [DONE]')
    const title = await post({ ...asked, stream: false, max_completion_tokens: 1000 })
    expect(JSON.parse(await title.text()).choices[0].message.content).toBe('You said: Hello')
  })
})
