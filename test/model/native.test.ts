import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { AddressRefusedError } from '../../domain/address-refused-error.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { type NativeKind, providerKinds } from '../../domain/model-providers.ts'
import { reasonOf } from '../../domain/reason-of.ts'
import { scanFrames } from '../../infra/model/guarded-fetch.ts'
import { createNativeAnswer } from '../../infra/model/native/native-answer.ts'
import { nativeFailure } from '../../infra/model/native/native-failures.ts'
import { createModelProbe } from '../../infra/model/probe.ts'
import { keyHeaders } from '../../infra/model/provider-requests.ts'
import { createModelByKind } from '../../infra/model/routed-model.ts'
import { createAnswer } from '../../services/runs/answer.ts'
import type { ChatRequest, ModelDelta, PromptMessage } from '../../services/runs/chat-model.ts'
import { answers, exactArgs, frame, said, thought, usage } from './native-wire.ts'

const kinds = providerKinds.filter((kind): kind is NativeKind => kind !== 'openai-compatible')
const models: Record<NativeKind, string> = {
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-3-pro-preview',
  'openai-responses': 'gpt-5',
  azure: 'gpt-5',
  xai: 'grok-4',
  mistral: 'magistral-medium-latest',
  deepseek: 'deepseek-reasoner',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
}
const baseUrls: Partial<Record<NativeKind, string>> = {
  azure: 'https://name.openai.azure.com/openai',
  bedrock: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
}
/** What must come back beside the text of the thought. */
const kept: Record<NativeKind, string> = {
  anthropic: 'c2lnbmF0dXJl',
  bedrock: 'c2lnbmF0dXJl',
  google: 'c2lnbmF0dXJl',
  'openai-responses': 'ZW5jcnlwdGVk',
  azure: 'ZW5jcnlwdGVk',
  xai: 'ZW5jcnlwdGVk',
  mistral: thought,
  deepseek: thought,
}
const weather = {
  name: 'weather',
  description: 'The weather in a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const question: PromptMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'How is the weather in Paris?' },
]

type Answered = string | Uint8Array | { status: number; body: unknown; headers?: Record<string, string> }

/** A model before a provider that gives these answers, and what the provider was sent. */
function providerOf(kind: NativeKind, given: Answered[] = [answers[kind]()], otherFetch?: typeof globalThis.fetch) {
  const sent: { url: string; headers: Record<string, string>; body: any; text: string }[] = []
  const left = [...given]
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const text = typeof init?.body === 'string' ? init.body : ''
    sent.push({
      url: url instanceof Request ? url.url : url.toString(),
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: JSON.parse(text),
      text,
    })
    const answer = left.length > 1 ? left.shift() : left[0]
    if (typeof answer === 'string') return new Response(answer, { headers: { 'content-type': 'text/event-stream' } })
    if (answer instanceof Uint8Array)
      return new Response(new Uint8Array(answer), { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })
    return new Response(JSON.stringify(answer?.body), {
      status: answer?.status ?? 500,
      headers: { 'content-type': 'application/json', ...answer?.headers },
    })
  }
  const refused: typeof globalThis.fetch = () => Promise.reject(new TypeError('fetch failed'))
  const ask = async (request: Partial<ChatRequest> = {}, { guarded = false } = {}) => {
    const model = createModelByKind({
      ownFetch: guarded ? refused : (otherFetch ?? fetch),
      guardedFetch: guarded ? fetch : refused,
      silenceMs: 10_000,
    })
    const answer = createAnswer('run-0')
    const deltas: ModelDelta[] = []
    for await (const delta of model.stream({
      account: { kind, apiKey: 'sk-test-key', baseUrl: baseUrls[kind], setByUser: guarded },
      model: models[kind],
      messages: question,
      tools: [weather],
      temperature: undefined,
      maxTokens: undefined,
      sampling: {},
      responseFormat: undefined,
      signal: new AbortController().signal,
      ...request,
    })) {
      deltas.push(delta)
      if (delta.type !== 'model') answer.add(delta)
    }
    return { deltas, message: answer.message().data, metadata: answer.metadata }
  }
  return { sent, ask }
}

/** The conversation after the answer, with the result of its call. */
function continued({ message, metadata }: Awaited<ReturnType<ReturnType<typeof providerOf>['ask']>>): PromptMessage[] {
  const id = message.tool_calls?.[0]?.id ?? ''
  return [
    ...question,
    {
      role: 'assistant',
      content: message.content,
      reasoning: message.reasoning,
      provider: metadata,
      tool_calls: [{ id, type: 'function', function: { name: 'weather', arguments: exactArgs } }],
    },
    { role: 'tool', tool_call_id: id, content: 'Sunny' },
  ]
}

describe.each(kinds)('%s', (kind) => {
  test('a thought, a text and a call are told apart, and arguments keep their digits', async () => {
    const { deltas, message } = await providerOf(kind).ask()
    expect(message).toMatchObject({ content: said, reasoning: thought, tool_calls: [{ name: 'weather' }] })
    const args = deltas.flatMap((delta) => (delta.type === 'call' ? [delta.args ?? ''] : [])).join('')
    expect(args).toBe(exactArgs)
    const counted = deltas.find((delta) => delta.type === 'usage')?.usage
    expect(counted).toMatchObject({ prompt_tokens: usage.prompt, completion_tokens: usage.completion })
    // Mistral names none.
    expect(counted?.cached_tokens).toBe(kind === 'mistral' ? undefined : usage.cached)
    expect(counted?.cache_write_tokens).toBe(kind === 'anthropic' ? 5 : undefined)
    expect(deltas.at(-1)?.type).toBe('provider')
  })

  test('the key goes only where the provider wants it, and a user is reached through the guard', async () => {
    const provider = providerOf(kind)
    await provider.ask({}, { guarded: true })
    const { headers = {}, url = '' } = provider.sent[0] ?? {}
    const name = { anthropic: 'x-api-key', google: 'x-goog-api-key', azure: 'api-key' }[String(kind)] ?? 'authorization'
    expect(headers[name]).toBe(name === 'authorization' ? 'Bearer sk-test-key' : 'sk-test-key')
    expect(url).not.toContain('sk-test-key')
    expect(Object.values(headers).filter((value) => value.includes('sk-test-key'))).toHaveLength(1)
  })

  test('what came with an answer goes back to its provider', async () => {
    const provider = providerOf(kind)
    const first = await provider.ask()
    await provider.ask({ messages: continued(first) })
    const text = provider.sent[1]?.text ?? ''
    expect(text).toContain(thought)
    expect(text).toContain('Sunny')
    // As a number, or within a text.
    expect(text).toContain('9007199254740993')
    expect(text).toContain(kept[kind])
  })

  test('another family of models, another server and a changed message get nothing of it', async () => {
    const provider = providerOf(kind)
    const first = await provider.ask()
    const messages = continued(first)
    await provider.ask({ messages, model: 'other-model-1' })
    await provider.ask({
      messages,
      account: { kind, apiKey: 'k', baseUrl: 'https://gateway.example/v1', setByUser: false },
    })
    const edited = messages.map((message) =>
      message.role === 'assistant' ? { ...message, content: 'Something else.' } : message,
    )
    await provider.ask({ messages: edited })
    expect(provider.sent).toHaveLength(4)
    for (const { text } of provider.sent.slice(1, 3)) {
      expect(text).not.toContain('c2lnbmF0dXJl')
      expect(text).not.toContain('ZW5jcnlwdGVk')
      expect(text).not.toContain(thought)
      expect(text).toContain('9007199254740993')
    }
    expect(provider.sent[3]?.text).not.toContain(thought)
    expect(provider.sent[3]?.text).toContain('Something else.')
  })

  test('an answer that breaks off is an error that is tried again', async () => {
    const whole = answers[kind]()
    const half = typeof whole === 'string' ? whole.slice(0, whole.length / 2) : whole.slice(0, whole.length / 2)
    await expect(providerOf(kind, [half]).ask()).rejects.toMatchObject({
      type: 'model_connection_error',
      retryable: true,
    })
  })

  test('refusals keep the words of the provider, and no key', async () => {
    const body = {
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens, key sk-test-key' },
    }
    const failure = await providerOf(kind, [{ status: 400, body }])
      .ask()
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ type: 'context_length_exceeded', statusCode: 400, retryable: false })
    const details = failure instanceof ModelFailure ? failure.details : ''
    expect(details).toContain('prompt is too long')
    expect(details).not.toContain('sk-test-key')
  })

  test('a busy provider is asked again later', async () => {
    const busy = { status: 429, body: { error: { message: 'Too many requests' } }, headers: { 'retry-after': '7' } }
    await expect(providerOf(kind, [busy]).ask()).rejects.toMatchObject({
      type: 'model_busy',
      retryable: true,
      retryAfterMs: 7000,
    })
  })

  test('a schema for the answer is sent', async () => {
    const provider = providerOf(kind)
    const schema = {
      type: 'object',
      properties: { sum: { type: 'integer' } },
      required: ['sum'],
      additionalProperties: false,
    }
    const responseFormat = { type: 'json_schema' as const, json_schema: { name: 'sum', strict: true, schema } }
    await provider.ask({ responseFormat, tools: [] })
    expect(provider.sent[0]?.text.replaceAll('\\', '')).toContain('"sum":{"type":"integer"}')
  })

  test('a member that the caller set and the provider does not take is named', async () => {
    const asked = providerOf(kind).ask({ logitBias: { 5: 10 }, setByCaller: ['logit_bias'] })
    await expect(asked).rejects.toMatchObject({ statusCode: 400, message: 'The model does not take `logit_bias`.' })
  })
})

test('two calls with one id are kept apart', () => {
  const answer = createNativeAnswer({ names: new Map(), addSources: false, argumentsText: (text) => text })
  const whole = (x: number): LanguageModelV4StreamPart[] => [
    { type: 'tool-input-start', id: 'call_0', toolName: 'find' },
    { type: 'tool-input-delta', id: 'call_0', delta: `{"x":${x}}` },
    { type: 'tool-input-end', id: 'call_0' },
    { type: 'tool-call', toolCallId: 'call_0', toolName: 'find', input: `{"x":${x}}` },
  ]
  const last: LanguageModelV4StreamPart = {
    type: 'tool-call',
    toolCallId: 'call_0',
    toolName: 'find',
    input: '{"x":3}',
  }
  const message = createAnswer('run-0')
  for (const part of [...whole(1), ...whole(2), last]) for (const delta of answer.read(part)) message.add(delta)
  const { tool_calls: calls = [] } = message.message().data
  expect(calls.map(({ args }) => args)).toEqual([{ x: 1 }, { x: 2 }, { x: 3 }])
  expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
})

test('an answer that is too long is refused', async () => {
  const part = { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'x'.repeat(1024 * 1024) } }
  const lines = answers.anthropic().toString().split('\n\n')
  const long = [...lines.slice(0, 7), ...Array<string>(3).fill(`data: ${JSON.stringify(part)}`), ...lines.slice(7)]
  await expect(providerOf('anthropic', [long.join('\n\n')]).ask()).rejects.toMatchObject({
    type: 'model_answer_too_long',
  })
})

test('a frame that is too large, or no frame, ends the answer', async () => {
  const large = frame('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'x'.repeat(5 * 1024 * 1024) } })
  await expect(providerOf('bedrock', [large]).ask()).rejects.toMatchObject({ type: 'model_answer_too_long' })
  await expect(providerOf('bedrock', [Buffer.from('no frame at all, only words')]).ask()).rejects.toMatchObject({
    type: 'model_answer_too_long',
  })
  const deep = frame('contentBlockDelta', '['.repeat(1000) + ']'.repeat(1000))
  await expect(providerOf('bedrock', [deep]).ask()).rejects.toMatchObject({ type: 'model_answer_too_long' })
})

test('a frame that comes byte by byte is put together in time', async () => {
  const sent = frame('contentBlockDelta', { text: 'x'.repeat(512 * 1024) })
  async function* bytes() {
    for (let at = 0; at < sent.length; at++) yield sent.subarray(at, at + 1)
  }
  const passed = await Array.fromAsync(scanFrames(bytes(), { bytes: 1024 * 1024 }))
  expect(Buffer.concat(passed).equals(sent)).toBe(true)
})

test('numbers beside the arguments of a call stay numbers', async () => {
  const rated = answers
    .google()
    .toString()
    .replaceAll('"index":0', '"index":0,"safetyRatings":[{"probabilityScore":1.0}]')
  const { message } = await providerOf('google', [rated]).ask()
  expect(message.tool_calls).toHaveLength(1)
})

test('a part of an access key that AWS quotes is not passed on, and the key is not sent', async () => {
  const [id, secret, token] = ['AKIAABCDEFGHIJKLMNOP', 'the/secret+access/key', 'the-token-of-a-session=']
  const body = { message: `The string should have been x-amz-security-token:${token} and ${id}` }
  const provider = providerOf('bedrock', [{ status: 403, body }])
  const account = { kind: 'bedrock' as const, apiKey: [id, secret, token].join(':'), setByUser: false }
  const failure = await provider.ask({ account: { ...account, baseUrl: baseUrls.bedrock } }).catch((error) => error)
  expect(failure).toMatchObject({ type: 'model_credentials_refused', details: expect.stringContaining('[key]') })
  expect(failure.details).not.toContain(token)
  expect(failure.details).not.toContain(id)
  expect(JSON.stringify(provider.sent)).not.toContain(secret)
  expect(keyHeaders(account)).toEqual({})

  const asked = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(null, { status: 403 }))
  onTestFinished(() => asked.mockRestore())
  const check = (kind: NativeKind, apiKey: string) =>
    createModelProbe(() => ({ kind, apiKey, baseUrl: baseUrls.bedrock, model: 'm' }))()
  await expect(check('bedrock', account.apiKey)).resolves.toBe('m')
  await expect(check('anthropic', 'k')).rejects.toThrow('403')
  // Another server would get the key.
  expect(asked.mock.calls.map(([, init]) => init?.redirect)).toEqual(['manual', 'manual'])
})

test('what a package cannot read is not quoted, and an address that may not be reached is not tried again', async () => {
  const events = answers.anthropic().toString().split('\n\n')
  const odd =
    'data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":["said by the model"]}}'
  const failure = await providerOf('anthropic', [[...events.slice(0, 8), odd, ...events.slice(8)].join('\n\n')])
    .ask()
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ type: 'model_connection_error', retryable: true })
  expect(reasonOf(failure)).not.toContain('said by the model')
  expect(nativeFailure(new AddressRefusedError(), '')).toMatchObject({
    type: 'model_connection_error',
    retryable: false,
  })
})

test('errors within an answer are told apart', async () => {
  const overloaded =
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
  await expect(providerOf('anthropic', [overloaded]).ask()).rejects.toMatchObject({ statusCode: 529, retryable: true })
})

test.each([
  ['anthropic', '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'],
  ['openai-responses', '{"type":"error","sequence_number":0,"code":"server_error","message":"Overloaded"}'],
] as const)('the connection of %s ends with an error, though the server keeps it open', async (kind, data) => {
  let signal: AbortSignal | null | undefined
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    signal = init?.signal
    const open = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(`event: error\ndata: ${data}\n\n`)),
    })
    return new Response(open, { headers: { 'content-type': 'text/event-stream' } })
  }
  await expect(providerOf(kind, [], fetch).ask()).rejects.toThrow('The model failed.')
  expect(signal?.aborted).toBe(true)
})

test('a signature that the provider refuses is left out, and an effort that it refuses, too', async () => {
  const refused = (message: string) => ({
    status: 400,
    body: { type: 'error', error: { type: 'invalid_request_error', message } },
  })
  const first = await providerOf('anthropic').ask()
  const provider = providerOf('anthropic', [
    refused('messages.1.content.0: Invalid `signature` in `thinking` block'),
    refused('Expected `thinking` or `redacted_thinking`, but found `text`. When thinking is enabled, …'),
    answers.anthropic(),
  ])
  const { message } = await provider.ask({ messages: continued(first), sampling: { reasoning_effort: 'high' } })
  expect(message.content).toBe(said)
  expect(provider.sent.map(({ body }) => [body.thinking?.type, body.messages[1].content[0].type])).toEqual([
    ['enabled', 'thinking'],
    ['enabled', 'text'],
    [undefined, 'text'],
  ])
})

test('a limit of tokens counts thinking', async () => {
  const provider = providerOf('anthropic')
  await provider.ask({ maxTokens: 4000, sampling: { reasoning_effort: 'medium' } })
  await provider.ask({ maxTokens: 900, sampling: { reasoning_effort: 'medium' } })
  expect(provider.sent[0]?.body).toMatchObject({ max_tokens: 4000, thinking: { budget_tokens: 2000 } })
  expect(provider.sent[1]?.body).toMatchObject({ max_tokens: 900 })
  expect(provider.sent[1]?.body.thinking).toBeUndefined()
})

test('the stable beginning of a conversation is marked for the cache', async () => {
  const marked = (value: unknown) => JSON.stringify(value).split('"cache_control"').length - 1
  const provider = providerOf('anthropic')
  const first = await provider.ask()
  await provider.ask({ messages: [...continued(first), { role: 'user', content: 'And tomorrow?' }] })
  const body = provider.sent[1]?.body
  expect([marked(body.system), marked(body.tools), marked(body.messages)]).toEqual([1, 1, 2])
  const bedrock = providerOf('bedrock')
  await bedrock.ask()
  await bedrock.ask({ model: 'meta.llama3-1-8b-instruct-v1:0' })
  expect(bedrock.sent.map(({ text }) => text.includes('cachePoint'))).toEqual([true, false])
})

test('pictures and files go to the provider, and what it does not take is refused before it is asked', async () => {
  const picture = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
  const content = [{ type: 'text' as const, text: 'What is this?' }, picture]
  for (const kind of kinds.filter((one) => one !== 'deepseek')) {
    const provider = providerOf(kind)
    await provider.ask({ messages: [{ role: 'user', content }] })
    expect(provider.sent[0]?.text, kind).toContain('iVBORw0KGgo=')
  }
  const sound = { type: 'input_audio' as const, input_audio: { data: 'UklGRg==', format: 'wav' as const } }
  const provider = providerOf('anthropic')
  await expect(provider.ask({ messages: [{ role: 'user', content: [sound] }] })).rejects.toMatchObject({
    statusCode: 400,
    type: 'model_refused_request',
  })
  expect(provider.sent).toEqual([])
})

test('a conversation that another provider began is told in the order that each wants', async () => {
  const messages: PromptMessage[] = [
    { role: 'assistant', content: 'Welcome.' },
    { role: 'user', content: 'Hello', name: 'ada' },
    { role: 'user', content: '' },
    {
      role: 'assistant',
      content: null,
      reasoning: 'Thought elsewhere.',
      tool_calls: ['a', 'b!'].map((id) => ({
        id: `call.${id}`,
        type: 'function',
        function: { name: 'weather.today', arguments: '{}' },
      })),
    },
    { role: 'tool', tool_call_id: 'call.a', content: 'Sunny' },
    { role: 'tool', tool_call_id: 'call.b!', content: 'Rain' },
    { role: 'system', content: 'Answer in French.' },
    { role: 'user', content: 'Thanks' },
  ]
  const provider = providerOf('anthropic')
  await provider.ask({ messages })
  const { system, messages: told } = provider.sent[0]?.body ?? {}
  expect(system.map(({ text }: { text: string }) => text)).toEqual(['Answer in French.'])
  expect(told.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
  const calls = told[3].content
  const results = told[4].content.filter(({ type }: { type: string }) => type === 'tool_result')
  expect(calls.map(({ id }: { id: string }) => id)).toEqual(results.map(({ tool_use_id: id }: any) => id))
  expect(calls.every(({ id }: { id: string }) => /^[\w-]+$/.test(id))).toBe(true)
  expect(calls[0].name).toBe('weather_today')
  expect(JSON.stringify(told)).not.toContain('Thought elsewhere.')
})
