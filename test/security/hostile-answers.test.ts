import { generateKeyPairSync } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JsonLimitError } from '../../domain/foreign-json.ts'
import { createPaymentProvider } from '../../infra/billing/stripe.ts'
import { createEmbedder } from '../../infra/model/embeddings.ts'
import { createPineconeStore } from '../../infra/vectors/pinecone.ts'
import { webSearchTool } from '../../services/tools/web-search.ts'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { startHttpServer } from '../support/http-server.ts'
import { startRawMcpServer } from '../support/mcp-server.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { toolContext } from '../support/tool-context.ts'
import { insertUser } from '../support/users.ts'

/** What a server sends, in two parts: between them the bystander is answered. */
type Parts = [string, string]

const marker = 'words-of-the-hostile-server'
/** Lists of this many megabytes hold a process up for a second where they are parsed. */
const lists = (megabytes: number): Parts => [`["${marker}",`, `${'[],'.repeat((megabytes * 1024 * 1024) / 3)}[]]`]
const levels: Parts = [`["${marker}",${'['.repeat(20)}`, '['.repeat(100_000)]
const event = ([start, rest]: Parts): Parts => [`data: ${start}`, `${rest}\n\n`]
const exchangeKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()
/** More than any limit of an event or an answer, in one line that does not end. */
const longLine: Parts = [`data: "${marker}`, 'x'.repeat(15 * 1024 * 1024)]

/** Servers that the operator chose: they may be taken over, too. */
describe('a service with a hostile answer', () => {
  let server: Awaited<ReturnType<typeof startHttpServer>>
  beforeAll(async () => {
    server = await startHttpServer((_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(lists(0.5).join(''))
    })
  })
  afterAll(() => server.close())

  const options = { apiKey: 'key', model: 'm', dimensions: 4, names: { apiKey: 'A', baseUrl: 'B' }, fetch }
  const keys = { stripeSecretKey: 'sk_test_1', stripeWebhookSecret: 'whsec' }
  it.each<[string, () => Promise<unknown> | undefined, object]>([
    [
      'the embedding server',
      () => createEmbedder({ ...options, baseUrl: server.url }).embed(['text']),
      { type: 'model_answer_too_long', retryable: false },
    ],
    [
      'the search service',
      () =>
        webSearchTool('search', { provider: 'searxng', baseUrl: server.url, apiKey: undefined }, fetch).execute(
          { query: 'tea' },
          toolContext(AbortSignal.timeout(60_000)),
        ),
      { message: 'the answer of the search service holds more than 50,000 objects and arrays' },
    ],
    [
      'Stripe',
      async () => (await createPaymentProvider({ ...keys, stripeApiBase: server.url })?.stripe())?.prices.list(),
      { type: 'StripeConnectionError', detail: expect.any(JsonLimitError) },
    ],
    [
      'Pinecone',
      () => createPineconeStore({ apiKey: 'key', host: server.url }).spacesOf('a'),
      { message: 'The vector store does not answer.' },
    ],
  ])('is refused: %s', async (_name, ask, expected) => {
    const error: unknown = await ask()?.catch((caught: unknown) => caught)
    expect(error).toMatchObject(expected)
    expect(inspect(error, { depth: 10 })).toContain('holds more than')
    expect(inspect(error, { depth: 10 })).not.toContain(marker)
  })
})

describe('a server with a hostile answer', () => {
  let service: ModelService
  let identity: Awaited<ReturnType<typeof startHttpServer>>
  let tools: Awaited<ReturnType<typeof startRawMcpServer>>
  let answer: { type: string; parts: Parts; begun: PromiseWithResolvers<void>; gate: PromiseWithResolvers<void> }

  async function send(response: ServerResponse, before = '', after = '') {
    const { type, parts, begun, gate } = answer
    // It is disconnected in the middle of what it sends.
    response.on('error', () => undefined)
    response.writeHead(200, { 'content-type': type })
    response.write(before + parts[0])
    begun.resolve()
    await gate.promise
    response.end(parts[1] + after)
  }

  beforeAll(async () => {
    identity = await startHttpServer((_request, response) => send(response))
    tools = await startRawMcpServer([{ name: 'ask', inputSchema: { type: 'object' } }], ({ id }, response) => {
      const message = `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":`
      return answer.type === 'application/json' ? send(response, message, '}}}') : send(response)
    })
    service = await startModelService({
      env: {
        OUTBOUND_ALLOW: '127.0.0.1',
        USERPOOL_ID: 'pool',
        USERPOOL_CLIENT_ID: 'client',
        USERPOOL_ISSUER: `${identity.url}/pool`,
        EXCHANGE_TOKEN_ISSUER: 'assistant-platform',
        EXCHANGE_PRIVATE_KEY: exchangeKey,
        OAUTH_ISSUER: `${identity.url}/social`,
        OAUTH_CLIENT_ID: 'client',
        OAUTH_CLIENT_SECRET: 'secret',
      },
    })
  })
  afterAll(async () => {
    await service.close()
    await Promise.all([identity.close(), tools.close()])
  })

  const willAnswer = (type: string, parts: Parts) => {
    answer = { type, parts, begun: Promise.withResolvers(), gate: Promise.withResolvers() }
    return answer
  }

  /** A run of somebody else, from its start to its end. */
  async function bystanderIsAnswered() {
    const bystander = await conversation(service)
    service.model.reply({
      when: ({ body }) => JSON.stringify(body.messages).includes('Am I alone?'),
      text: ['You are ', 'not.'],
    })
    const run = await bystander.stream('Am I alone?')
    expect(run.messages.at(-1).data.content).toBe('You are not.')
  }

  it.each<[string, Parts, RegExp]>([
    ['lists', event(lists(3)), /an event that holds more than 50,000 objects and arrays/],
    ['levels', event(levels), /an event that nests deeper than 64 levels/],
    ['a line without an end', longLine, /an event that is larger than 4,194,304 bytes/],
  ])('that is a model, and sends %s', async (_what, [start, rest], message) => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    const hostile = service.model.reply({ raw: [start, gate.promise, rest] })
    const asked = talk.stream('Go')
    await hostile.arrived
    await bystanderIsAnswered()
    gate.resolve()
    const run = await asked
    expect(run.error).toMatchObject({ status_code: 502, type: 'model_answer_too_long' })
    expect(run.error.message).toMatch(message)
    expect(JSON.stringify(run.events)).not.toContain(marker)
    await bystanderIsAnswered()
  })

  it('that is a model, and sends an error of many levels, has failed with its status', async () => {
    const talk = await conversation(service)
    const message = `${'['.repeat(20_000)}"${marker}"${']'.repeat(20_000)}`
    service.model.reply({ status: 400, errorBody: `{"error":{"message":${message}}}` })
    const run = await talk.stream('Go')
    expect(run.error).toMatchObject({ status_code: 400, type: 'model_refused_request' })
    expect(JSON.stringify(run.events)).not.toContain(marker)
  })

  it.each<[string, string, Parts, RegExp]>([
    ['lists', 'application/json', lists(7), /holds more than 50,000 objects and arrays$/],
    ['levels', 'application/json', levels, /nests deeper than 64 levels$/],
    ['lists in an event', 'text/event-stream', event(lists(7)), /holds more than 50,000 objects and arrays$/],
    ['a line without an end', 'text/event-stream', longLine, /(?:is larger than 8,388,608 bytes|is too long\.)$/],
  ])('that has tools (MCP), and sends %s', async (_what, type, parts, message) => {
    const { client, assistantId } = await conversation(service, {
      'type==agent/tools': [{ type: 'mcp', config: { name: 'x', url: tools.url } }],
    })
    const { begun, gate } = willAnswer(type, parts)
    const asked = client.post(`/assistants/${assistantId}/tools/try`, { name: 'x_ask', args: {} })
    await begun.promise
    await bystanderIsAnswered()
    gate.resolve()
    const trial = await asked
    expect(trial).toMatchObject({ outcome: 'failed', content: expect.stringMatching(message) })
    expect(trial.content).not.toContain(marker)
    await bystanderIsAnswered()
  })

  it.each<[string, Parts, RegExp]>([
    ['lists', lists(15), /is larger than 262,144 bytes/],
    ['fewer lists', lists(0.2), /holds more than 50,000 objects and arrays/],
    ['levels', levels, /nests deeper than 64 levels/],
  ])('that knows who people are, and sends %s', async (_what, parts, message) => {
    const bystander = await insertUser(service)
    for (const [method, path] of [
      ['POST', '/auth/exchange'],
      ['GET', '/auth/social/login'],
    ] as const) {
      const { begun, gate } = willAnswer('application/json', parts)
      const asked = apiClient(service.url, 'a.token.here').call(method, path)
      await begun.promise
      // One short request, because the answer is waited for only five seconds.
      expect((await bystander.call('GET', '/auth/me')).status).toBe(200)
      gate.resolve()
      const { status, text } = await asked
      expect(`${path} ${status} ${text}`).toMatch(new RegExp(`^${path} 500 .*${message.source}`, 's'))
      expect(text).not.toContain(marker)
    }
  })
})
