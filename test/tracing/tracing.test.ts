import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { readJson, sendJson, startHttpServer } from '../support/http-server.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { allEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

interface SentSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  kind: number
  status: { code?: number }
  attributes: { key: string; value: Record<string, unknown> }[]
}

interface SentBatch {
  resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[]
}

/** The receiver speaks OTLP over HTTP in its JSON form, at the path that the protocol says. */
describe('tracing', () => {
  let service: ModelService
  let receiver: Awaited<ReturnType<typeof startHttpServer>>
  let target: Awaited<ReturnType<typeof startHttpServer>>
  let client: ApiClient
  const spans: SentSpan[] = []
  let sent = ''
  const lines: string[] = []

  beforeAll(async () => {
    target = await startHttpServer((_request, response) => void response.end('tool-answer-words'))
    receiver = await startHttpServer(async (request, response) => {
      expect(request.url).toBe('/v1/traces')
      const batch = await readJson<SentBatch>(request)
      sent += JSON.stringify(batch)
      spans.push(...batch.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
      sendJson(response, 200, {})
    })
    service = await startModelService({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'info' },
      onLog: (line) => lines.push(line),
    })
    client = await insertUser(service)
  })
  afterAll(async () => {
    await service.close()
    await receiver.close()
    await target.close()
  })

  const run = async (traceparent?: string) => {
    const { thread_id } = await client.post('/threads/', {})
    const { assistant_id } = await client.post('/assistants/', {
      name: 'A',
      config: { 'type==agent/tools': [{ type: 'http_request' }], 'type==agent/temperature': 0.5 },
    })
    const response = await client.fetch(
      'POST',
      '/runs/stream',
      { thread_id, assistant_id, input: [{ type: 'human', content: 'question-words' }] },
      traceparent === undefined ? {} : { traceparent },
    )
    const events = await allEvents(response)
    const runId: string = JSON.parse(events[1]?.data ?? '').run_id
    return { thread_id, assistant_id, runId, last: events.at(-1)?.event }
  }
  const attributesOf = (span: SentSpan | undefined) =>
    Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]))
  const spansOf = (runId: string, count: number) =>
    eventually('the spans have arrived', async () => {
      const found = spans.filter((span) => attributesOf(span)['assistant_platform.run.id'] === runId)
      return found.length >= count ? found : undefined
    })

  it('links request, run, steps and tools in one trace, with conventional names', async () => {
    service.model.reply({
      toolCalls: [{ id: 'call-1', name: 'http_request', arguments: { method: 'GET', url: target.url } }],
      usage: { prompt_tokens: 11, completion_tokens: 3 },
    })
    service.model.reply({ text: 'answer-words', usage: { prompt_tokens: 20, completion_tokens: 4 } })
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const { runId, thread_id, assistant_id, last } = await run(`00-${traceId}-b7ad6b7169203331-01`)
    expect(last).toBe('end')

    const found = await spansOf(runId, 4)
    expect(found).toHaveLength(4)
    const named = (name: string) => found.filter((span) => span.name === name)
    const [agent] = named('invoke_agent')
    const [tool] = named('execute_tool http_request')
    const chats = named('chat scripted')
    const request = await eventually('the request has arrived', async () =>
      spans.find((span) => span.traceId === traceId && span.name === 'POST /runs/stream'),
    )
    expect(request).toMatchObject({ parentSpanId: 'b7ad6b7169203331', kind: 2 })
    const logged = lines.filter((line) => line.includes('"operation":"runs.stream"')).map((line) => JSON.parse(line))
    expect(logged).toEqual([expect.objectContaining({ msg: 'request', run_id: runId, trace_id: traceId })])
    expect(new Set(found.map((span) => span.traceId))).toEqual(new Set([traceId]))
    expect(agent?.parentSpanId).toBe(request.spanId)
    expect([tool, ...chats].map((span) => span?.parentSpanId)).toEqual(Array.from({ length: 3 }, () => agent?.spanId))

    expect(attributesOf(agent)).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': assistant_id,
      'gen_ai.conversation.id': thread_id,
      'gen_ai.usage.input_tokens': 31,
      'gen_ai.usage.output_tokens': 7,
    })
    expect(
      chats
        .map(attributesOf)
        .toSorted((a, b) => Number(a['assistant_platform.run.step']) - Number(b['assistant_platform.run.step'])),
    ).toMatchObject([
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'scripted',
        'gen_ai.request.temperature': 0.5,
        'gen_ai.usage.input_tokens': 11,
      },
      { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.output_tokens': 4 },
    ])
    expect(attributesOf(tool)).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'http_request',
      'gen_ai.tool.call.id': 'call-1',
    })
  })

  it('marks failures by their kind, in a separate trace without a traceparent', async () => {
    service.model.reply({ status: 400, errorMessage: 'no-such-thing' })
    const { runId, last } = await run()
    expect(last).toBe('error')
    const found = await spansOf(runId, 2)
    for (const span of found) expect(span.status.code).toBe(2)
    expect(attributesOf(found.find(({ name }) => name === 'invoke_agent'))['assistant_platform.run.status']).toBe(
      'error',
    )
    expect(new Set(found.map((span) => span.traceId)).size).toBe(1)
  })

  it('contains no message text', () => {
    for (const words of ['question-words', 'answer-words', 'tool-answer-words', 'no-such-thing', 'scripted-key']) {
      expect(sent).not.toContain(words)
    }
  })
})
