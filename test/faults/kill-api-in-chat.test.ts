import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { useModelService } from '../support/model-service.ts'
import { startApiProcess } from '../support/processes.ts'
import { v1Client } from '../v1/v1-client.ts'

describe('kill -9 of the API in the middle of a streamed request on /v1', () => {
  const service = useModelService()

  /** Reads until the stream is cut; `onText` is called with each piece of the answer. */
  async function textOf<T>(
    stream: AsyncIterable<T>,
    pieceOf: (event: T) => string | undefined,
    onText?: () => unknown,
  ) {
    let text = ''
    try {
      for await (const event of stream) {
        const piece = pieceOf(event)
        if (!piece) continue
        text += piece
        await onText?.()
      }
    } catch (error) {
      return { text, cut: String(error) }
    }
    return { text }
  }

  it('a chat completion that is sent again with its key has the whole answer, and the model was asked once', async () => {
    const { client } = await v1Client(service)
    const at = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: client.apiKey, maxRetries: 0 })
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: ['Begin, ', gate.promise, 'middle, ', 'end.'] })
    const before = service.model.requests.length
    const ask = (url: string) =>
      at(url).chat.completions.create(
        { model: 'scripted', messages: [{ role: 'user', content: 'Go' }], stream: true },
        { headers: { 'Idempotency-Key': 'one-question' } },
      )
    // Both first: a model that is silent for long is asked again.
    const [first, second] = [await startApiProcess(service.env), await startApiProcess(service.env)]
    const pieceOf = (chunk: OpenAI.ChatCompletionChunk) => chunk.choices[0]?.delta.content ?? undefined
    const cut = await textOf(await ask(first.url), pieceOf, () => first.kill())
    expect(cut).toMatchObject({ text: 'Begin, ', cut: expect.stringContaining('terminated') })
    gate.resolve()
    expect(await textOf(await ask(second.url), pieceOf)).toEqual({ text: 'Begin, middle, end.' })
    expect(service.model.requests.length - before).toBe(1)
    await second.stop()
  }, 180_000)

  it('a run on a thread goes on, and is read by its id on another process', async () => {
    const { client } = await v1Client(service)
    const at = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: client.apiKey, maxRetries: 0 })
    const assistant = await client.beta.assistants.create({ model: 'scripted' })
    const thread = await client.beta.threads.create({ messages: [{ role: 'user', content: 'Go' }] })
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: ['Begin, ', gate.promise, 'end.'] })
    const first = await startApiProcess(service.env)
    const stream = await at(first.url).beta.threads.runs.create(thread.id, {
      assistant_id: assistant.id,
      stream: true,
    })
    const pieceOf = (event: OpenAI.Beta.AssistantStreamEvent) => {
      const part = event.event === 'thread.message.delta' ? event.data.delta.content?.[0] : undefined
      return part?.type === 'text' ? part.text?.value : undefined
    }
    expect(await textOf(stream, pieceOf, () => first.kill())).toMatchObject({
      text: 'Begin, ',
      cut: expect.stringContaining('terminated'),
    })
    gate.resolve()
    const second = await startApiProcess(service.env)
    const { runs, messages } = at(second.url).beta.threads
    const [run] = (await runs.list(thread.id)).data
    const ended = await runs.poll(run?.id ?? '', { thread_id: thread.id }, { pollIntervalMs: 50 })
    expect(ended.status).toBe('completed')
    const [answer] = (await messages.list(thread.id)).data
    expect(answer?.content[0]).toMatchObject({ text: { value: 'Begin, end.' } })
    expect(service.model.unused).toBe(0)
    await second.stop()
  }, 180_000)
})
