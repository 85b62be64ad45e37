import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadSettings } from '../../infra/config.ts'
import { createEmbedder } from '../../infra/model/embeddings.ts'
import { sendJson, startHttpServer } from '../support/http-server.ts'

const dimensions = 4
const names = { apiKey: 'EMBEDDING_API_KEY', baseUrl: 'EMBEDDING_BASE_URL' }
const embedderOf = (baseUrl: string, silenceMs?: number) =>
  createEmbedder({
    apiKey: 'the-key',
    baseUrl,
    model: 'embed',
    dimensions,
    names,
    fetch,
    ...(silenceMs === undefined ? {} : { silenceMs }),
  })

const vector = [0.5, 0.25, -1, 2]
const entry = (index: number, embedding: unknown = vector) => ({ object: 'embedding', index, embedding })
const base64 = (...numbers: number[]) => Buffer.from(new Float32Array(numbers).buffer).toString('base64')

describe('an embedding server', () => {
  let answer: (response: ServerResponse) => void
  let server: Awaited<ReturnType<typeof startHttpServer>>
  beforeAll(async () => {
    server = await startHttpServer(async (request, response) => {
      await request.resume().toArray()
      answer(response)
    })
  })
  afterAll(() => server.close())

  /** What two texts come to if the server sends this body. */
  const embedTwo = (body: unknown, silenceMs?: number) => {
    answer = (response) => sendJson(response, 200, body)
    return embedderOf(server.url, silenceMs).embed(['one', 'two'])
  }

  it('can send vectors in any order, as numbers or base64', async () => {
    const other = [1, 0, 0, 0]
    expect(await embedTwo({ data: [entry(1, base64(...other)), entry(0)] })).toEqual([vector, other])
  })

  const hostile: [string, unknown, RegExp][] = [
    ['too many vectors', { data: [entry(0), entry(1), entry(2)] }, /3 vectors for 2 texts/],
    ['too few vectors', { data: [entry(0)] }, /1 vectors for 2 texts/],
    ['two vectors for one text', { data: [entry(0), entry(0)] }, /one by one/],
    ['a place outside the texts', { data: [entry(0), entry(-1)] }, /one by one/],
    ['a place of another type', { data: [entry(0), { embedding: vector, index: '__proto__' }] }, /one by one/],
    ['NaN', { data: [entry(0), entry(1, base64(1, Number.NaN, 0, 0))] }, /with no number/],
    ['infinity', { data: [entry(0), entry(1, base64(1, Number.POSITIVE_INFINITY, 0, 0))] }, /with no number/],
    ['a number beyond 32 bits', { data: [entry(0), entry(1, [1, 1e300, 0, 0])] }, /with no number/],
    ['null among the numbers', { data: [entry(0), entry(1, [1, null, 0, 0])] }, /with no number/],
    ['text in place of a vector', { data: [entry(0), entry(1, 'abcde')] }, /without vectors/],
    ['an object in place of a vector', { data: [entry(0), entry(1, { length: 4 })] }, /without vectors/],
    ['no list', { data: { length: 2 } }, /without vectors/],
    ['null', null, /without vectors/],
  ]
  it.each(hostile)('that sends %s leads to a retryable error', async (_what, body, message) => {
    await expect(embedTwo(body)).rejects.toMatchObject({
      message: expect.stringMatching(message),
      type: 'model_invalid_answer',
      retryable: true,
    })
  })

  it('with vectors of another length than EMBEDDING_DIMENSIONS leads to a permanent error with both lengths', async () => {
    await expect(embedTwo({ data: [entry(0), entry(1, [1, 2, 3])] })).rejects.toMatchObject({
      message: 'The embedding server sent vectors of 3 dimensions, but EMBEDDING_DIMENSIONS is 4.',
      retryable: false,
    })
  })

  it('with an endless answer is disconnected at a maximum size', async () => {
    let sent = 0
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        sent += 64 * 1024
        response.write(' '.repeat(64 * 1024), (error) => (error || response.destroyed ? undefined : more()))
      }
      more()
    }
    await expect(embedderOf(server.url).embed(['one'])).rejects.toMatchObject({ type: 'model_answer_too_long' })
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  it('that is silent leads to a timeout', async () => {
    answer = () => undefined
    await expect(embedderOf(server.url, 100).embed(['one'])).rejects.toMatchObject({
      type: 'model_timeout',
      message: expect.stringContaining('EMBEDDING_BASE_URL'),
      retryable: true,
    })
  })

  it('that is busy sends Retry-After in seconds or as a date', async () => {
    for (const value of ['7', new Date(Date.now() + 7500).toUTCString()]) {
      answer = (response) => {
        response.setHeader('retry-after', value)
        sendJson(response, 429, { error: { message: 'slow down' } })
      }
      const failure = await embedderOf(server.url)
        .embed(['one'])
        .catch((error: unknown) => error)
      expect(failure).toMatchObject({ type: 'model_busy', retryable: true })
      expect(failure).toHaveProperty('retryAfterMs', expect.closeTo(7000, -4))
    }
  })

  it('that fails leads to an error with the setting to check, without the key', async () => {
    const cases: [number, string, boolean][] = [
      [401, 'EMBEDDING_API_KEY', false],
      [402, 'EMBEDDING_API_KEY', false],
      [404, 'check EMBEDDING_BASE_URL and EMBEDDING_MODEL', false],
      [400, 'EMBEDDING_MODEL', false],
      [500, 'The embedding server failed.', true],
    ]
    for (const [status, message, retryable] of cases) {
      answer = (response) => sendJson(response, status, { error: { message: 'wrong: the-key' } })
      const failure = await embedderOf(server.url)
        .embed(['one'])
        .catch((error: unknown) => error)
      expect(failure, String(status)).toMatchObject({ message: expect.stringContaining(message), retryable })
      expect(failure).toHaveProperty('details', expect.not.stringContaining('the-key'))
    }
    await expect(embedderOf('http://127.0.0.1:9/v1').embed(['one'])).rejects.toMatchObject({
      message: expect.stringContaining('EMBEDDING_BASE_URL'),
      retryable: true,
    })
  })
})

describe('the settings of the embedding server', () => {
  const required = { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'), JWT_SECRET: 'a secret of some length' }
  const read = (env: Record<string, string>) => loadSettings({ ...required, ...env }).embedding
  it('are those of the model server by default', () => {
    expect(read({}).apiKey).toBeUndefined()
    expect(read({ OPENAI_API_KEY: 'sk', OPENAI_BASE_URL: 'http://a/v1' })).toMatchObject({
      apiKey: 'sk',
      baseUrl: 'http://a/v1',
      names: { apiKey: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
    })
  })

  it('never send the key of the model server to another address', () => {
    const own = read({ OPENAI_API_KEY: 'sk', OPENAI_BASE_URL: 'http://a/v1', EMBEDDING_BASE_URL: 'http://b/v1/' })
    expect(own).toMatchObject({ apiKey: 'none', baseUrl: 'http://b/v1', names: { apiKey: 'EMBEDDING_API_KEY' } })
    expect(read({ EMBEDDING_BASE_URL: 'http://b/v1', EMBEDDING_API_KEY: 'own' }).apiKey).toBe('own')
    // A key of its own at the same server, so that its cost can be told apart.
    expect(read({ OPENAI_BASE_URL: 'http://a/v1', EMBEDDING_API_KEY: 'own' })).toMatchObject({
      apiKey: 'own',
      baseUrl: 'http://a/v1',
    })
  })

  it('are reported when they are wrong', () => {
    expect(() => read({ EMBEDDING_BASE_URL: 'nowhere' })).toThrow('EMBEDDING_BASE_URL must be an absolute URL')
    expect(() => read({ EMBEDDING_DIMENSIONS: '0' })).toThrow('EMBEDDING_DIMENSIONS must be')
  })
})
