import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { allEvents } from '../support/sse.ts'
import { newPublicAssistant } from './public-assistant.ts'

describe.each(['/public/compat/v1', '/public/v1'])('%s/chat/completions', (base) => {
  const service = useSharedService()
  let token: string
  let client: OpenAI

  beforeAll(async () => {
    token = (await newPublicAssistant(service)).token
    client = new OpenAI({ baseURL: `${service.url}${base}`, apiKey: token, maxRetries: 0 })
  })

  const usage = { prompt_tokens: 11, completion_tokens: 4 }

  it('answers a conversation with text and usage', async () => {
    service.model.reply({ text: ['One ', 'answer'], usage })
    const completion = await client.chat.completions.create({
      model: 'whatever',
      temperature: 0.3,
      max_completion_tokens: 50,
      messages: [
        { role: 'developer', content: 'Speak plainly.' },
        { role: 'user', content: [{ type: 'text', text: 'First' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
        { role: 'user', content: 'Second' },
      ],
    })
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'whatever',
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'One answer', refusal: null } },
      ],
      usage: { ...usage, total_tokens: 15 },
    })
    expect(completion.id).toMatch(/^chatcmpl-/)
    const asked = service.model.requests.at(-1)?.body
    expect(asked?.temperature).toBe(0.3)
    expect(asked?.max_tokens ?? asked?.max_completion_tokens).toBe(50)
    expect(asked?.tools).toBeUndefined()
    expect(asked?.messages).toEqual([
      { role: 'system', content: 'The owner says: be brief.\n\nSpeak plainly.' },
      { role: 'user', content: 'First' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
      { role: 'user', content: 'Second' },
    ])
  })

  it('streams deltas, a finish reason, the usage on request, and [DONE]', async () => {
    service.model.reply({ text: ['Str', 'eam', 'ed'], finishReason: 'length', usage })
    const chunks = await Array.fromAsync(
      await client.chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: 'Go' }],
        stream: true,
        stream_options: { include_usage: true },
      }),
    )
    expect(chunks.every((chunk) => chunk.object === 'chat.completion.chunk' && chunk.model === 'm')).toBe(true)
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant')
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('Streamed')
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).toEqual(['length'])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { ...usage, total_tokens: 15 } })

    service.model.reply({ text: 'Raw' })
    const raw = await apiClient(service.url, token).fetch('POST', `${base}/chat/completions`, {
      model: 'm',
      messages: [{ role: 'user', content: 'Go' }],
      stream: true,
    })
    expect(raw.headers.get('content-type')).toContain('text/event-stream')
    const events = await allEvents(raw)
    expect(events.every((event) => event.event === 'message' && event.id === undefined)).toBe(true)
    expect(events.at(-1)?.data).toBe('[DONE]')
    expect(events.slice(0, -1).every((event) => !('usage' in JSON.parse(event.data)))).toBe(true)
  })

  it('gives the complete answer to the stream helper of the client', async () => {
    service.model.reply({ text: ['Help', 'ed'] })
    const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Go' }] })
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('Helped')
  })

  it('continues where it was when the model connection breaks and is retried', async () => {
    service.model.reply({ text: ['One ', 'two '], breakConnection: true })
    service.model.reply({ text: ['O', 'ne two', ' three'], usage })
    const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Count' }] })
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('One two three')
  })

  it('reports a failed run by its status, or within a stream by an error chunk', async () => {
    const messages = [{ role: 'user' as const, content: 'Go' }]
    service.model.reply({ status: 400, errorMessage: 'no' })
    const refused = await client.chat.completions.create({ model: 'm', messages }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OpenAI.APIError)
    expect(refused).toMatchObject({ status: 400, type: 'invalid_request_error' })

    service.model.reply({ status: 401, errorMessage: 'bad key sk-abcdefgh' })
    const upstream = await client.chat.completions.create({ model: 'm', messages }).catch((error: unknown) => error)
    expect(upstream).toMatchObject({ status: 502, type: 'server_error' })
    expect(String(upstream)).not.toContain('sk-abcdefgh')

    service.model.reply({ status: 400, errorMessage: 'no' })
    const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
    const failure = await Array.fromAsync(stream).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(OpenAI.APIError)

    service.model.reply({ status: 400, errorMessage: 'no' })
    const body = { model: 'm', messages, stream: true }
    const events = await allEvents(await apiClient(service.url, token).fetch('POST', `${base}/chat/completions`, body))
    const last = JSON.parse(events.at(-1)?.data ?? '')
    expect(last.error).toMatchObject({ type: 'invalid_request_error', param: null })
    expect(typeof last.error.message).toBe('string')
  })

  it("ends with calls of the caller's functions, beside the tools of the assistant", async () => {
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]
    const question = { role: 'user' as const, content: 'Go' }
    service.model.reply({ toolCalls: [{ id: 'call_1', name: 'look', arguments: ['{"at"', ': "it"}'] }] })
    const stream = client.chat.completions.stream({ model: 'm', messages: [question], tools })
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{"at": "it"}' } }] },
    })
    service.model.reply({ text: 'Seen' })
    const picture = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='
    const completion = await client.chat.completions.create({
      model: 'm',
      tools,
      n: 1,
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] },
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'it is there' },
      ],
    })
    expect(completion.choices[0]?.message.content).toBe('Seen')
    expect(service.model.requests.at(-1)?.body.messages.slice(1)).toMatchObject([
      { role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] },
      { role: 'assistant' },
      { role: 'tool', content: 'it is there' },
    ])
  })

  it('answers prompts of the older interface, whole and streamed, and keeps nothing', async () => {
    const { runs } = service.collections
    service.model.reply({ text: 'Blue', usage })
    const answer = await client.completions.create({ model: 'any', prompt: 'The sky is', echo: true, max_tokens: 5 })
    expect(answer).toMatchObject({
      object: 'text_completion',
      model: 'any',
      choices: [{ index: 0, text: 'The sky isBlue', finish_reason: 'stop', logprobs: null }],
      usage: { total_tokens: 15 },
    })
    expect(service.model.requests.at(-1)?.body).toMatchObject({
      max_tokens: 5,
      messages: [
        { role: 'system', content: 'The owner says: be brief.' },
        { role: 'user', content: 'The sky is' },
      ],
    })
    await eventually(
      'the end of what is not kept',
      async () => (await runs.exists({ _id: answer.id.slice('cmpl-'.length) })) === null,
    )
    service.model.reply({ text: ['Gr', 'een'] })
    const chunks = await Array.fromAsync(
      await client.completions.create({ model: 'any', prompt: 'Grass is', stream: true }),
    )
    expect(chunks.map(({ choices: [choice] }) => choice?.text ?? '').join('')).toBe('Green')
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
    const refused = client.completions.create({ model: 'any', prompt: 'a', suffix: 'b' })
    await expect(refused).rejects.toMatchObject({ status: 422, param: 'suffix' })
  })

  it('sends both detail and error with a refusal', async () => {
    const messages = [{ role: 'user', content: 'Go' }]
    const closed = await newPublicAssistant(service, { mode: 'authenticated' })
    for (const bad of [undefined, 'unknown', closed.token]) {
      const answer = await apiClient(service.url, bad).post(`${base}/chat/completions`, { model: 'm', messages }, 401)
      expect(answer).toMatchObject({
        detail: expect.any(String),
        error: { message: answer.detail, type: 'authentication_error', param: null, code: 'invalid_api_key' },
      })
    }
    const caller = apiClient(service.url, token)
    const invalid = await caller.post(`${base}/chat/completions`, { model: 'm', messages: [{ role: 'bird' }] }, 422)
    expect(invalid.detail[0]).toMatchObject({ loc: ['body', 'messages', 0, 'role'], type: 'enum' })
    expect(invalid.error).toMatchObject({
      type: 'invalid_request_error',
      param: 'messages.0.role',
      code: 'invalid_input',
    })
    const picture = [{ role: 'user', content: [{ type: 'video_url', video_url: { url: 'https://x.test/a.mp4' } }] }]
    expect(
      (await caller.post(`${base}/chat/completions`, { model: 'm', messages: picture }, 422)).detail[0].loc,
    ).toEqual(['body', 'messages', 0, 'content', 0])
    await caller.post(`${base}/chat/completions`, { messages: [] }, 422)
    expect((await caller.get(`${base}/nowhere`, 404)).error.type).toBe('invalid_request_error')
    expect((await caller.get(`${base}/chat/completions`, 405)).error.code).toBe('method_not_allowed')
    const broken = await caller.post(`${base}/chat/completions`, '{', 400)
    expect(broken).toMatchObject({ detail: expect.any(String), error: { code: 'bad_request' } })
  })
})
