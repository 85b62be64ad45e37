import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'

/** The tools of other tests are held to the real client: what it cannot read, they must not say. */
describe('the scripted model', () => {
  let model: ScriptedModel
  let client: OpenAI
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  beforeEach(async () => {
    model = await startScriptedModel()
    client = new OpenAI({ baseURL: model.url, apiKey: 'k', maxRetries: 0 })
  })
  afterEach(() => model.close())

  it('streams text in the given pieces, with usage when asked', async () => {
    model.reply({ text: ['Hel', 'lo'], usage: { prompt_tokens: 7, completion_tokens: 2 } })
    const stream = await client.chat.completions.create({
      model: 'm',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content).filter(Boolean)).toEqual(['Hel', 'lo'])
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
    expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 })
    expect(model.requests[0]?.body.messages).toEqual(messages)
  })

  it('streams tool calls whose arguments come in pieces', async () => {
    model.reply({
      toolCalls: [
        { id: 'a', name: 'one', arguments: ['{"x"', ':1}'] },
        { name: 'two', arguments: { y: 2 } },
      ],
    })
    const answer = await client.chat.completions.stream({ model: 'm', messages }).finalMessage()
    expect(answer.tool_calls).toMatchObject([
      { id: 'a', function: { name: 'one', arguments: '{"x":1}' } },
      { function: { name: 'two', arguments: '{"y":2}' } },
    ])
  })

  it('answers whole when no stream is asked for', async () => {
    model.reply({ text: 'Hello', toolCalls: [{ name: 'one', arguments: {} }] })
    const answer = await client.chat.completions.create({ model: 'm', messages })
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'Hello', tool_calls: [{ function: { name: 'one', arguments: '{}' } }] },
    })
  })

  it('waits at a gate until the test opens it', async () => {
    const gate = Promise.withResolvers<void>()
    const reply = model.reply({ text: ['before', gate.promise, 'after'] })
    const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
    const seen: string[] = []
    for await (const chunk of stream) {
      const text = chunk.choices[0]?.delta.content
      if (text) seen.push(text)
      if (text === 'before') gate.resolve()
    }
    expect(seen).toEqual(['before', 'after'])
    expect(await reply.ended).toBe('sent')
  })

  it('reports when the client disconnects', async () => {
    const reply = model.reply({ text: ['first', new Promise(() => {})] })
    const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
    await reply.arrived
    stream.controller.abort()
    expect(await reply.ended).toBe('dropped')
  })

  it('fails as scripted: status, waiting time, broken connection', async () => {
    model.reply({ status: 429, retryAfterSeconds: 3 })
    const refused = await client.chat.completions.create({ model: 'm', messages }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError)
    expect(refused instanceof OpenAI.RateLimitError && refused.headers.get('retry-after')).toBe('3')

    model.reply({ text: ['half'], breakConnection: true })
    const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
    const seen: (string | null | undefined)[] = []
    const reading = (async () => {
      for await (const chunk of stream) seen.push(chunk.choices[0]?.delta.content)
    })()
    await expect(reading).rejects.toThrow()
    expect(seen).toEqual(['', 'half'])
  })

  it('gives a reply to the request for which it is scripted', async () => {
    const ask = (content: string) =>
      client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] })
    model.reply({ text: 'to B', when: ({ body }) => body.messages.at(-1)?.content === 'B' })
    model.reply({ text: 'to A' })
    expect((await ask('A')).choices[0]?.message.content).toBe('to A')
    expect((await ask('B')).choices[0]?.message.content).toBe('to B')
    expect(model.unused).toBe(0)
  })

  it('embeds, counts, and fails as scripted', async () => {
    model.embeddings.fail({ status: 503 })
    await expect(client.embeddings.create({ model: 'e', input: 'a' })).rejects.toThrow('503')
    const answer = await client.embeddings.create({ model: 'e', input: ['a', 'b'], dimensions: 32 })
    expect(answer.data.map(({ embedding }) => embedding.length)).toEqual([32, 32])
    expect(model.embeddings).toMatchObject({ requests: 2, inputs: ['a', 'b'] })
  })

  it('fails loudly when its script has ended', async () => {
    const other = await startScriptedModel()
    const asking = new OpenAI({ baseURL: other.url, apiKey: 'k', maxRetries: 0 }).chat.completions.create({
      model: 'm',
      messages,
    })
    await expect(asking).rejects.toThrow('the script has no answer left')
    await expect(other.close()).rejects.toThrow('the script has no answer left for request 1')
  })
})
