import { describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { eventually } from '../support/eventually.ts'
import { everythingIn } from '../support/everything-in.ts'
import { useModelService } from '../support/model-service.ts'
import { conversation } from './support.ts'

describe('a failing model', () => {
  const lines: string[] = []
  const service = useModelService({ env: { LOG_LEVEL: 'info' }, onLog: (line) => void lines.push(line) })
  const logged = (message: string, runId: string): any[] =>
    lines.map((line) => JSON.parse(line)).filter(({ msg, run_id }) => run_id === runId && msg.includes(message))

  it('is reported to readers as retrying, and logged with host and cause', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({ status: 503, retryAfterSeconds: 1, errorMessage: 'too hot' })
    service.model.reply({ text: [gate.promise, 'Cool again'] })
    const response = await talk.client.fetch('POST', '/runs/stream', talk.payload('Go'))
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      // Only now may the model go on: readers were told before.
      if (text.includes('\n: retrying\n')) gate.resolve()
    }
    expect(text.split(': retrying\n')).toHaveLength(2)
    expect(text).toContain('Cool again')
    const runId = /"run_id":"([^"]+)"/.exec(text)?.[1] ?? ''
    const [line] = logged('the model failed', runId)
    expect(line).toMatchObject({
      assistant_id: talk.assistantId,
      host: new URL(service.model.url).host,
      status: 503,
      retryable: true,
    })
    expect(line.cause).toContain('too hot')
  })

  it('logs a line for each stream, with run and assistant, also when the reader disconnects', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    const reply = service.model.reply({ text: ['A ', gate.promise, 'b'] })
    const { run_id: runId } = await talk.start('Go')
    await reply.arrived
    const response = await talk.client.fetch('GET', `/runs/${runId}/stream`)
    await response.body?.cancel()
    const aborted = await eventually('the line', async () =>
      logged('request', runId).find(({ operation }) => operation === 'runs.join'),
    )
    expect(aborted).toMatchObject({ assistant_id: talk.assistantId, status: 200, aborted: true })
    gate.resolve()
    await talk.join(runId)
    const whole = await eventually('the second line', async () =>
      logged('request', runId).find(({ operation, aborted: cut }) => operation === 'runs.join' && cut === undefined),
    )
    expect(whole).toMatchObject({ assistant_id: talk.assistantId, status: 200 })
  })

  it('is called again after 429, 500 and a broken connection; the new answer replaces the partial one', async () => {
    const talk = await conversation(service)
    service.model.reply({ status: 429, retryAfterSeconds: 1 })
    service.model.reply({ status: 500 })
    service.model.reply({ text: ['Cut '], breakConnection: true })
    service.model.reply({ text: ['Whole ', 'answer'] })
    const run = await talk.stream('Try')
    expect(run.end).toBe('end')
    expect(run.messages).toHaveLength(1)
    expect(run.messages[0].data.content).toBe('Whole answer')
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['Try', 'Whole answer'])
  })

  it('is not called again after a 400: the run ends with an error, and the thread has status error', async () => {
    const talk = await conversation(service)
    service.model.reply({ status: 400, errorMessage: 'temperature is silly, key sk-abcdef123456' })
    const run = await talk.stream('Try')
    expect(run.end).toBe('error')
    expect(Object.keys(run.error).toSorted()).toEqual(['details', 'message', 'status_code', 'type'])
    expect(run.error.status_code).toBe(400)
    expect(run.error.details).toContain('temperature is silly')
    expect(JSON.stringify(run.error)).not.toContain('abcdef123456')
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({ status: 'error', error: run.error })
    expect((await talk.client.get(`/threads/${talk.threadId}`)).status).toBe('error')
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['Try'])
    expect(service.model.unused).toBe(0)
    // Servers quote the request in their errors.
    const history = await service.temporal.workflow
      .getHandle(threadContract.id({ threadId: talk.threadId }))
      .fetchHistory()
    expect(everythingIn(history)).toContain('model_refused_request')
    expect(everythingIn(history)).not.toContain('silly')

    service.model.reply({ text: 'Better' })
    expect((await talk.stream('Again')).end).toBe('end')
    expect((await talk.client.get(`/threads/${talk.threadId}`)).status).toBe('idle')
  })

  it('keeps the partial answer, marked as incomplete', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: ['I was saying '], breakConnection: true })
    service.model.reply({ status: 400 })
    const run = await talk.stream('Speak')
    expect(run.end).toBe('error')
    const messages = await talk.messages()
    expect(messages.map(({ data }) => data.content)).toEqual(['Speak', 'I was saying '])
    expect(messages[1].data.incomplete).toBe(true)
  })

  it('leads to context_length_exceeded for a conversation that is too long', async () => {
    const talk = await conversation(service)
    service.model.reply({ status: 400, errorMessage: "This model's maximum context length is 10 tokens" })
    const run = await talk.stream('A long story')
    expect(run.error).toMatchObject({ type: 'context_length_exceeded' })
  })
})
