import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useModelService } from '../support/model-service.ts'
import { type ServiceProcess, startWorkerProcess } from '../support/processes.ts'
import { newPublicAssistant } from './public-assistant.ts'

describe('kill -9 of the worker in the middle of a completion', () => {
  const service = useModelService({ worker: false })
  let worker: ServiceProcess
  let assistant: Awaited<ReturnType<typeof newPublicAssistant>>
  let client: OpenAI

  beforeAll(async () => {
    worker = await startWorkerProcess(service.env)
    assistant = await newPublicAssistant(service)
    client = new OpenAI({ baseURL: `${service.url}/public/v1`, apiKey: assistant.token, maxRetries: 0 })
  })
  afterAll(async () => {
    await worker.stop()
  })

  const never = new Promise<never>(() => {})
  const killOnce = () => {
    let killed = false
    return async () => {
      if (killed) return
      killed = true
      await worker.kill()
      worker = await startWorkerProcess(service.env)
    }
  }
  const question = { model: 'm', messages: [{ role: 'user' as const, content: 'Count' }] }

  it('does not interrupt the stream, and sends no text twice', async () => {
    const cut = service.model.reply({ text: ['One ', 'two ', never] })
    // The second attempt comes in other pieces: what counts is the text.
    service.model.reply({ text: ['On', 'e tw', 'o three', ' four.'] })
    const kill = killOnce()
    let text = ''
    const finishes: string[] = []
    for await (const chunk of await client.chat.completions.create({ ...question, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? ''
      finishes.push(...[chunk.choices[0]?.finish_reason ?? []].flat())
      if (text === 'One two ') await kill()
    }
    expect(await cut.ended).toBe('dropped')
    expect(text).toBe('One two three four.')
    expect(finishes).toEqual(['stop'])
    expect(service.model.unused).toBe(0)
  })

  it('does not interrupt a call of a function, and sends no piece of it twice', async () => {
    service.model.reply({ toolCalls: [{ id: 'call_1', name: 'look', arguments: ['{"at": ', never] }] })
    service.model.reply({ toolCalls: [{ id: 'call_2', name: 'look', arguments: ['{"a', 't": "it"}'] }] })
    const kill = killOnce()
    const tools = [{ type: 'function' as const, function: { name: 'look' } }]
    const ids: string[] = []
    let args = ''
    let finish: string | null = null
    for await (const { choices } of await client.chat.completions.create({ ...question, tools, stream: true })) {
      const [call] = choices[0]?.delta.tool_calls ?? []
      if (call?.id !== undefined) ids.push(call.id)
      args += call?.function?.arguments ?? ''
      finish = choices[0]?.finish_reason ?? finish
      if (args === '{"at": ') await kill()
    }
    expect(ids).toEqual(['call_1'])
    expect(args).toBe('{"at": "it"}')
    expect(finish).toBe('tool_calls')
  })

  it('leaves nothing of a completion with store: false', async () => {
    service.model.reply({ text: ['One ', never] })
    service.model.reply({ text: 'One two.' })
    const kill = killOnce()
    const { collections } = service
    const before = await collections.threads.countDocuments({})
    const answer = client.chat.completions.create({ ...question, store: false })
    await expect.poll(() => service.model.unused, { timeout: 20_000 }).toBe(1)
    await kill()
    expect((await answer).choices[0]?.message.content).toBe('One two.')
    await expect.poll(() => collections.threads.countDocuments({}), { timeout: 30_000 }).toBe(before)
  })

  it('ends with an error chunk when the second attempt gives another answer', async () => {
    service.model.reply({ text: ['One ', 'two ', never] })
    const second = service.model.reply({ text: 'Four five six' })
    const kill = killOnce()
    let text = ''
    const read = async () => {
      for await (const chunk of await client.chat.completions.create({ ...question, stream: true })) {
        text += chunk.choices[0]?.delta.content ?? ''
        if (text === 'One two ') await kill()
      }
    }
    const error = await read().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ code: 'answer_changed' })
    expect(text).toBe('One two ')
    expect(await second.ended).toBe('sent')
  })

  it('does the same for the events of a thread run', async () => {
    service.model.reply({ text: ['One ', 'two ', never] })
    service.model.reply({ text: 'One two three.' })
    const kill = killOnce()
    const stream = client.beta.threads.createAndRunStream({
      assistant_id: assistant.id,
      thread: { messages: [{ role: 'user', content: 'Count' }] },
    })
    let text = ''
    const names: string[] = []
    for await (const { event, data } of stream) {
      names.push(event)
      if (event !== 'thread.message.delta') continue
      for (const block of data.delta.content ?? []) text += block.type === 'text' ? (block.text?.value ?? '') : ''
      if (text === 'One two ') await kill()
    }
    expect(text).toBe('One two three.')
    expect(names.filter((name) => name === 'thread.message.created').length).toBe(1)
    expect(names.at(-1)).toBe('thread.run.completed')
    expect((await stream.finalMessages())[0]?.content).toEqual([
      { type: 'text', text: { value: 'One two three.', annotations: [] } },
    ])
  })
})
