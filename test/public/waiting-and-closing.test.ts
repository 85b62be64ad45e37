import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { startModelService } from '../support/model-service.ts'
import { startService } from '../support/service.ts'
import { readEvents } from '../support/sse.ts'
import { newPublicAssistant } from './public-assistant.ts'

const question = { model: 'm', messages: [{ role: 'user' as const, content: 'Go' }] }
const tools = [{ type: 'http_request', config: { allowed_hosts: ['nowhere.test'] } }]

describe('a public caller', () => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  })

  async function start() {
    const service = await startModelService()
    closing.push(() => service.close())
    return service
  }

  it('waits for the approval of the owner, and gets the answer', async () => {
    const service = await start()
    const { token, id, owner } = await newPublicAssistant(service, {
      config: { 'type==agent/interrupt_before_action': true, 'type==agent/tools': tools },
    })
    const client = new OpenAI({ baseURL: `${service.url}/public/v1`, apiKey: token, maxRetries: 0 })
    const toolCalls = [{ name: 'http_request', arguments: { method: 'GET', url: 'http://elsewhere.test/' } }]
    const approve = async (runId: string) => {
      await eventually(
        'the run waits for approval',
        async () => (await owner.get(`/runs/${runId}`)).status === 'interrupted',
      )
      await owner.post(`/runs/${runId}/resume`, { action: 'reject', message: 'Not today' })
    }

    service.model.reply({ text: 'May I?', toolCalls })
    service.model.reply({ text: 'Then not.' })
    let text = ''
    for await (const { id: completionId, choices } of await client.chat.completions.create({
      ...question,
      stream: true,
    })) {
      text += choices[0]?.delta.content ?? ''
      if (text === 'May I?' && choices[0]?.delta.content) await approve(completionId.replace('chatcmpl-', ''))
    }
    expect(text).toBe('May I?\n\nThen not.')

    service.model.reply({ text: 'May I?', toolCalls })
    service.model.reply({ text: 'Then not.' })
    const run = await client.beta.threads.createAndRun({
      assistant_id: id,
      thread: { messages: [{ role: 'user', content: 'Go' }] },
    })
    await approve(run.id)
    const polled = await client.beta.threads.runs.poll(run.id, { thread_id: run.thread_id }, { pollIntervalMs: 50 })
    expect(polled.status).toBe('completed')
  })

  it('gets a last chunk when the service shuts down, and the run continues', async () => {
    const service = await start()
    const { token, id } = await newPublicAssistant(service)
    const gate = Promise.withResolvers<void>()
    closing.push(async () => gate.resolve())
    const caller = apiClient(service.url, token)
    service.model.reply({ text: ['Half', gate.promise] })
    const chunks = readEvents(await caller.fetch('POST', '/public/v1/chat/completions', { ...question, stream: true }))
    await chunks.next()
    await chunks.next()
    service.model.reply({ text: ['Half', gate.promise] })
    const events = readEvents(
      await caller.fetch('POST', '/public/v1/threads/runs', { assistant_id: id, stream: true, thread: null }),
    )
    await events.next()
    service.model.reply({ text: ['Half', gate.promise] })
    const waiting = caller.fetch('POST', '/public/v1/chat/completions', question)
    await eventually('the model was asked three times', async () => service.model.unused === 0)

    const closed = service.api.app.close()
    const rest = await Array.fromAsync(chunks)
    expect(JSON.parse(rest.at(-1)?.data ?? '').error).toMatchObject({ type: 'server_error', code: 'service_closing' })
    const last = (await Array.fromAsync(events)).at(-1)
    expect(last?.event).toBe('error')
    expect(JSON.parse(last?.data ?? '').error.code).toBe('service_closing')
    expect((await waiting).status).toBe(503)
    await closed
    const runs = await service.collections.runs.find({}, { status: 1 }).lean()
    expect(runs.map(({ status }) => status)).toEqual(['running', 'running', 'running'])
  })

  it('gets 503 while no model is configured, without creating a thread', async () => {
    const service = await startService()
    closing.push(() => service.close())
    const { token, id } = await newPublicAssistant(service)
    const caller = apiClient(service.url, token)
    const refused = await caller.post('/public/v1/chat/completions', question, 503)
    expect(refused).toMatchObject({ detail: expect.any(String), error: { type: 'server_error', code: 'unavailable' } })
    await caller.post('/public/v1/threads/runs', { assistant_id: id }, 503)
    const input = [{ type: 'human', content: 'Hi' }]
    const native = await caller.post('/public/runs/stream', { assistant_id: id, input }, 503)
    expect(native).toEqual({ detail: refused.detail })
    expect(await service.collections.threads.countDocuments({})).toBe(0)
  })
})
