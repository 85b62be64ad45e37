import { describe, expect, it } from 'vitest'
import { useSharedService } from '../support/shared-service.ts'
import { v1Client } from './v1-client.ts'

const refusal = 'I cannot help with that.'
const pieces = ['I cannot ', 'help with that.']

describe("a model's refusal", () => {
  const service = useSharedService()

  it('is told apart from the text of chat completions', async () => {
    const { client } = await v1Client(service)
    const asked = { model: 'scripted', messages: [{ role: 'user' as const, content: 'Please.' }] }
    service.model.reply({ refusal: pieces })
    const whole = await client.chat.completions.create(asked)
    expect(whole.choices[0]).toMatchObject({ message: { content: null, refusal }, finish_reason: 'stop' })

    service.model.reply({ refusal: pieces })
    const streamed = client.chat.completions.stream(asked)
    const seen: string[] = []
    streamed.on('refusal.delta', ({ delta }) => void seen.push(delta))
    expect((await streamed.finalMessage()).refusal).toBe(refusal)
    expect(seen.join('')).toBe(refusal)
    expect((await streamed.finalMessage()).content ?? '').toBe('')
  })

  it('is a part of its own in the messages of a thread, which the next turn knows', async () => {
    const { client, owner } = await v1Client(service)
    const assistant = await client.beta.assistants.create({ model: 'scripted' })
    const thread = await client.beta.threads.create({ messages: [{ role: 'user', content: 'Please.' }] })
    service.model.reply({ refusal: pieces })
    const stream = client.beta.threads.runs.stream(thread.id, { assistant_id: assistant.id })
    const deltas: unknown[] = []
    stream.on('messageDelta', ({ content }) => void deltas.push(...(content ?? [])))
    const [message] = await stream.finalMessages()
    expect(message?.content).toMatchObject([{ type: 'refusal', refusal }])
    expect(deltas).toContainEqual({ index: 0, type: 'refusal', refusal: expect.stringContaining('I cannot') })
    const { data } = await client.beta.threads.messages.list(thread.id, { limit: 1 })
    expect(data[0]?.content).toEqual([{ type: 'refusal', refusal }])

    service.model.reply({ text: 'As I said.' })
    await client.beta.threads.runs.createAndPoll(
      thread.id,
      { assistant_id: assistant.id, additional_messages: [{ role: 'user', content: 'Why?' }] },
      { pollIntervalMs: 50 },
    )
    expect(service.model.requests.at(-1)?.body.messages).toContainEqual({ role: 'assistant', content: refusal })
    const state = await owner.get(`/threads/${thread.id}/state`)
    expect(state['values'].messages[1]).toMatchObject({ type: 'AIMessage', data: { content: '', refusal } })
  })

  it('is a part and events of its own in responses', async () => {
    const { client } = await v1Client(service)
    service.model.reply({ refusal: pieces })
    const stream = await client.responses.create({ model: 'scripted', input: 'Please.', stream: true })
    const types: string[] = []
    let id = ''
    for await (const event of stream) {
      types.push(event.type)
      if (event.type === 'response.refusal.done') expect(event.refusal).toBe(refusal)
      if (event.type === 'response.completed') id = event.response.id
    }
    expect(types.slice(2)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.refusal.delta',
      'response.refusal.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const kept = await client.responses.retrieve(id)
    expect(kept).toMatchObject({ output_text: '', output: [{ content: [{ type: 'refusal', refusal }] }] })
  })
})
