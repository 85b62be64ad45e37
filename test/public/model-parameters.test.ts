import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { newPublicAssistant } from './public-assistant.ts'

describe('the model parameters of compat requests', () => {
  const service = useSharedService({ respond: () => ({ text: 'Done' }) })
  const base = '/public/compat/v1'
  let assistant: { id: string; token: string }
  let caller: ApiClient
  let client: OpenAI
  const messages = [{ role: 'user' as const, content: 'Go' }]
  const asked = () => service.model.requests.at(-1)?.body
  const chat = (more: object, status = 200) =>
    caller.post(`${base}/chat/completions`, { model: 'm', messages, ...more }, status)

  beforeAll(async () => {
    assistant = await newPublicAssistant(service)
    caller = apiClient(service.url, assistant.token)
    client = new OpenAI({ baseURL: `${service.url}${base}`, apiKey: assistant.token, maxRetries: 0 })
  })

  const json_schema = { name: 'answer', strict: true, schema: { type: 'object', $defs: { 'a.b': {} } } }

  it('are passed to the model', async () => {
    const parameters = { top_p: 0.5, seed: 42, frequency_penalty: -1, presence_penalty: 2, stop: ['END', '\n\n'] }
    await client.chat.completions.create({
      model: 'm',
      messages,
      ...parameters,
      response_format: { type: 'json_schema', json_schema },
    })
    expect(asked()).toMatchObject({ ...parameters, response_format: { type: 'json_schema', json_schema } })
    await chat({ stop: 'END', response_format: { type: 'json_object' } })
    expect(asked()).toMatchObject({ stop: ['END'], response_format: { type: 'json_object' } })
  })

  it('are not sent when null or default', async () => {
    const none = { top_p: null, seed: null, frequency_penalty: null, presence_penalty: null, stop: null }
    await chat({ ...none, response_format: { type: 'text' }, temperature: null, max_tokens: null })
    expect(Object.keys(asked() ?? {}).toSorted()).toEqual(['messages', 'model', 'stream', 'stream_options'])
  })

  it.each([
    ['top_p', 2],
    ['n', 9],
    ['top_logprobs', 3],
    ['logit_bias', { word: 1 }],
    ['seed', 'one'],
    ['stop', ['']],
    ['stop', 5],
    ['frequency_penalty', 3],
    ['response_format', { type: 'poem' }],
    ['response_format', { type: 'json_schema' }],
    ['response_format', { type: 'json_schema', json_schema: { name: 'big', schema: { x: 'x'.repeat(70_000) } } }],
  ])('return 422 if %s has a wrong type', async (member, value) => {
    const { detail } = await chat({ [member]: value }, 422)
    expect(detail[0].loc.slice(0, 2)).toEqual(['body', member])
  })

  it.each([
    ['modalities', ['text', 'audio']],
    ['audio', { voice: 'alloy', format: 'wav' }],
    ['tool_choice', { type: 'function', function: { name: 'mine' } }],
    ['prediction', { type: 'content', content: 'x' }],
    ['function_call', { name: 'mine' }],
    ['web_search_options', {}],
  ])('return 422 with the name of %s if it is not supported', async (member, value) => {
    const before = service.model.requests.length
    const { detail, error } = await chat({ [member]: value }, 422)
    expect(detail).toEqual([{ loc: ['body', member], msg: expect.any(String), type: 'unsupported' }])
    expect(error).toMatchObject({ type: 'invalid_request_error', param: member, code: 'invalid_input' })
    expect(service.model.requests.length).toBe(before)
  })

  it('accept the defaults that clients send', async () => {
    await chat({
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      modalities: ['text'],
      audio: null,
      tools: [{ type: 'function', function: { name: 'mine', parameters: {} } }],
      tool_choice: 'auto',
      function_call: 'none',
      parallel_tool_calls: true,
      store: false,
      user: 'me',
      service_tier: 'auto',
      metadata: {},
      prediction: null,
      reasoning_effort: 'low',
    })
    await chat({ n: null, tool_choice: null, modalities: null, logit_bias: null })
  })

  it('require content in a user message, whose text parts are joined', async () => {
    for (const content of [undefined, null, []]) {
      const { detail } = await chat({ messages: [...messages, { role: 'user', content }] }, 422)
      expect(detail[0]).toMatchObject({ loc: ['body', 'messages', 1, 'content'], type: 'missing' })
    }
    const text = (part: string) => ({ type: 'text', text: part })
    await chat({
      messages: [
        { role: 'user', content: [text('One'), text(' two'), text('\nthree')] },
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'user', content: '' },
      ],
    })
    expect(asked()?.messages.slice(1)).toEqual([
      { role: 'user', content: 'One two\nthree' },
      { role: 'assistant', content: 'No.' },
      { role: 'user', content: '' },
    ])
  })

  it('apply to runs on threads, which show them', async () => {
    const { id } = await client.beta.threads.create({ messages })
    const run = await client.beta.threads.runs.createAndPoll(
      id,
      { assistant_id: assistant.id, top_p: 0.25, response_format: { type: 'json_schema', json_schema } },
      { pollIntervalMs: 50 },
    )
    expect(asked()).toMatchObject({ top_p: 0.25, response_format: { type: 'json_schema', json_schema } })
    expect(run).toMatchObject({ top_p: 0.25, response_format: { type: 'json_schema', json_schema } })
    const plain = { assistant_id: assistant.id, response_format: 'auto', truncation_strategy: { type: 'auto' } }
    const made = await caller.post(`${base}/threads/${id}/runs`, { ...plain, tool_choice: 'auto', tools: [] })
    expect(made).toMatchObject({ top_p: null, response_format: 'auto' })
    await client.beta.threads.runs.poll(made.id, { thread_id: id }, { pollIntervalMs: 50 })
  })

  it.each([
    ['threads/runs', { tool_choice: 'required' }, ['body', 'tool_choice']],
    ['threads/runs', { max_prompt_tokens: 500 }, ['body', 'max_prompt_tokens']],
    [
      'threads/runs',
      { truncation_strategy: { type: 'last_messages', last_messages: 1 } },
      ['body', 'truncation_strategy'],
    ],
    ['threads/runs', { thread: { tool_resources: files() } }, ['body', 'thread', 'tool_resources']],
    ['threads', { tool_resources: files() }, ['body', 'tool_resources']],
    ['threads', { messages: [withFile()] }, ['body', 'messages', 0, 'attachments']],
    ['threads', { messages: [{ role: 'user', content: [] }] }, ['body', 'messages', 0, 'content']],
    ['threads/runs', { additional_messages: [withFile()] }, ['body', 'additional_messages', 0, 'attachments']],
  ])('in %s are refused for %j', async (path, body, loc) => {
    const { detail } = await caller.post(`${base}/${path}`, { assistant_id: assistant.id, ...body }, 422)
    expect(detail[0].loc).toEqual(loc)
  })

  it('may contain empty file lists in threads', async () => {
    const { id } = await client.beta.threads.create({ tool_resources: { file_search: { vector_store_ids: [] } } })
    await caller.post(`${base}/threads/${id}/messages`, { role: 'user', content: 'x', attachments: [] })
  })
})

function files() {
  return { code_interpreter: { file_ids: ['file-1'] } }
}

function withFile() {
  return { role: 'user', content: 'See', attachments: [{ file_id: 'file-1', tools: [] }] }
}
