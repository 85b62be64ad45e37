import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { allEvents } from '../support/sse.ts'
import { conversation } from './support.ts'

const frame = (delta: unknown, finish: unknown = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const end = [frame({}, 'stop'), 'data: [DONE]\n\n']
const thought = [frame({ reasoning_content: 'The user ' }), frame({ reasoning_content: 'greets me.' })]
const thinking = { raw: [...thought, frame({ content: 'Hello.' }), ...end] }
const signature = { google: { thought_signature: 'the-signature-of-the-thought' } }
const signedCall = {
  raw: [
    ...thought,
    frame({
      tool_calls: [
        { index: 0, id: 'c1', function: { name: 'no_such_tool', arguments: '{}' }, extra_content: signature },
      ],
    }),
    ...end,
  ],
}

describe('what a model thinks', () => {
  const service = useSharedService()

  it('is streamed and stored apart from its answer', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({ raw: [...thought, gate.promise, frame({ content: 'Hello.' }), ...end] })
    const { run_id: runId } = await talk.start('Hi')
    const following = talk.join(runId)
    gate.resolve()
    const run = await following
    expect(run.messages.at(-1)?.data).toMatchObject({ content: 'Hello.', reasoning: 'The user greets me.' })
    expect((await talk.messages()).at(-1)?.data).toMatchObject({ content: 'Hello.', reasoning: 'The user greets me.' })
  })

  it('is as hard as the run says, else as the assistant says', async () => {
    const talk = await conversation(service, { 'type==agent/reasoning_effort': 'low' })
    service.model.reply({ text: 'One.' })
    await talk.stream('Hi')
    service.model.reply({ text: 'Two.' })
    await talk.stream('Hi', { reasoning_effort: 'high' })
    const efforts = service.model.requests.slice(-2).map(({ body }) => Reflect.get(body, 'reasoning_effort'))
    expect(efforts).toEqual(['low', 'high'])
  })

  it('has the instructions and the temperature of its run beside those of its assistant', async () => {
    const talk = await conversation(service, {
      'type==agent/system_message': 'Be brief.',
      'type==agent/temperature': 1,
    })
    service.model.reply({ text: 'One.' })
    await talk.stream('Hi', { instructions: 'Answer in Danish.', temperature: 0.2 })
    service.model.reply({ text: 'Two.' })
    await talk.stream('Hi', { instructions: ' ' })
    const [first, second] = service.model.requests.slice(-2).map(({ body }) => body)
    expect([first?.temperature, second?.temperature]).toEqual([0.2, 1])
    const systemOf = (body: typeof first) => String(body?.messages[0]?.content)
    expect(systemOf(first)).toContain('Be brief.')
    expect(systemOf(first)).toContain('Answer in Danish.')
    expect(systemOf(second)).not.toContain('Danish')
  })

  it('arrives in deltas before the answer', async () => {
    const talk = await conversation(service)
    service.model.reply({
      raw: [
        frame({ reasoning_content: 'One' }),
        frame({ reasoning_content: ' two.' }),
        frame({ content: 'Hello.' }),
        ...end,
      ],
    })
    const run = await talk.stream('Hi', { stream_mode: 'deltas' })
    expect(run.end).toBe('end')
    let [content, reasoning] = ['', '']
    for (const { type, data } of run.states.flat()) {
      content = type === 'AIMessageDelta' ? content + data.content : data.content
      reasoning = type === 'AIMessageDelta' ? reasoning + (data.reasoning ?? '') : (data.reasoning ?? '')
    }
    expect({ content, reasoning }).toEqual({ content: 'Hello.', reasoning: 'One two.' })
  })

  it('is shown to public callers only if the owner says so', async () => {
    for (const shows of [false, true]) {
      const token = `thinking-${newId()}`
      await conversation(service, {
        'type==agent/access_mode': 'public_token',
        'type==agent/public_token': token,
        'type==agent/show_reasoning': shows,
      })
      const caller = apiClient(service.url, token)
      const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
      service.model.reply(thinking)
      const { choices } = await caller.post('/public/v1/chat/completions', body)
      expect(choices[0].message).toEqual({
        role: 'assistant',
        content: 'Hello.',
        refusal: null,
        ...(shows ? { reasoning_content: 'The user greets me.' } : {}),
      })
      service.model.reply(thinking)
      const streamed = await allEvents(
        await caller.fetch('POST', '/public/v1/chat/completions', { ...body, stream: true }),
      )
      const deltas = streamed
        .filter(({ data }) => data !== '[DONE]')
        .map(({ data }) => JSON.parse(data).choices[0].delta)
      expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe(shows ? 'The user greets me.' : '')
      expect(deltas.map((delta) => delta.content ?? '').join('')).toBe('Hello.')
    }
  })

  it('is told apart by its end alone, also for a reader who has received it as text', async () => {
    const token = `thinking-${newId()}`
    await conversation(service, { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token })
    const gate = Promise.withResolvers<void>()
    service.model.reply({
      raw: [
        frame({ content: 'The user greets me.' }),
        gate.promise,
        frame({ content: '\n</think>\n\nHello.' }),
        ...end,
      ],
    })
    const caller = apiClient(service.url, token)
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true }
    const response = await caller.fetch('POST', '/public/v1/chat/completions', body)
    let text = ''
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      if (text.includes('greets me.')) gate.resolve()
    }
    expect(text).toContain('"content":"Hello."')
    expect(text).toContain('[DONE]')
    expect(text).not.toContain('"error"')
  })

  it('comes back to its provider with the calls that it led to, and is shown to nobody sealed', async () => {
    const talk = await conversation(service)
    service.model.reply(signedCall)
    service.model.reply({ text: 'Done.' })
    const run = await talk.stream('Look')
    expect(run.messages.at(-1)?.data.content).toBe('Done.')
    const back = () => service.model.requests.at(-1)?.body.messages.find(({ role }) => role === 'assistant')
    const whole = { reasoning_content: 'The user greets me.', tool_calls: [{ extra_content: signature }] }
    expect(back()).toMatchObject(whole)
    // A later run reads the conversation from the log.
    service.model.reply({ text: 'Again.' })
    await talk.stream('And now?')
    expect(back()).toMatchObject(whole)
    const shown = JSON.stringify([
      run.states,
      await talk.messages(),
      await talk.client.get(`/threads/${talk.threadId}/history`),
    ])
    expect(shown).not.toMatch(/provider_metadata|the-signature/)
    const stored = await service.collections.checkpoints.find({ thread_id: talk.threadId }).lean()
    expect(JSON.stringify(stored)).toContain('provider_metadata')
    expect(JSON.stringify(stored)).not.toContain('the-signature')
  })
})
