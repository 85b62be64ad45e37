import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { readJson, sendJson, startHttpServer } from '../support/http-server.ts'
import { useModelService } from '../support/model-service.ts'
import { startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

const key = 'BSA-key-of-a-search-service'

/** A server that speaks the interfaces of the search services, and one for reranking. */
describe('the search that operators set', () => {
  const logged: string[] = []
  const hits: { url: string; headers: IncomingMessage['headers'] }[] = []
  let server: Awaited<ReturnType<typeof startHttpServer>>
  let rerankStatus = 200
  const service = useModelService({
    env: { LOG_LEVEL: 'debug', RERANK_BASE_URL: 'http://127.0.0.1:9', RERANK_API_KEY: 'rerank-secret-key' },
    onLog: (line) => logged.push(line),
  })
  beforeAll(async () => {
    server = await startHttpServer(async (request, response) => {
      hits.push({ url: request.url ?? '', headers: request.headers })
      if (request.url === '/rerank') {
        const { documents } = await readJson<{ documents: string[] }>(request)
        const results = documents.map((_, index) => ({ index, relevance_score: index / 10 }))
        return sendJson(response, rerankStatus, { results })
      }
      const page = {
        title: 'Tides',
        url: 'https://example.com/tides',
        description: 'High water.',
        content: 'High water.',
      }
      sendJson(response, 200, { type: 'search', web: { results: [page] }, results: [page] })
    })
  })
  afterAll(() => server.close())

  const admin = (method: string, path: string, body?: unknown) =>
    apiClient(service.url, service.env['ADMIN_TOKEN']).call(method, path, body)
  const brave = () => ({ provider: 'brave', base_url: server.url, api_key: key })
  const isOffered = async () => {
    const { body } = await (await insertUser(service)).call('GET', '/tools/')
    return body.find(({ type }: { type: string }) => type === 'web_search').available
  }

  it('takes effect in API and worker without a restart; its key is stored sealed and never shown', async () => {
    expect((await admin('GET', '/admin/search')).body).toMatchObject({
      web: { provider: null, key: 'none', source: 'stored' },
      embedding: { kind: 'server', base_url: service.model.env.OPENAI_BASE_URL, key: 'set', dimensions: 1536 },
      reranking: { kind: 'server', base_url: 'http://127.0.0.1:9', model: null, key: 'set' },
    })
    expect(await isOffered()).toBe(false)
    const put = await admin('PUT', '/admin/search', brave())
    expect(put.body.web).toEqual({
      provider: 'brave',
      base_url: server.url,
      source: 'stored',
      key: 'set',
      key_hint: 'BSA-ke',
    })
    expect(await isOffered()).toBe(true)
    const worker = service.worker?.platform.core.models
    await eventually('the worker to see it', () => worker?.current().search?.apiKey === key)

    const user = await insertUser(service)
    const config = { 'type==agent/tools': [{ type: 'web_search' }] }
    const { assistant_id } = await user.post('/assistants/', { name: 'A', config })
    const { thread_id } = await user.post('/threads/', {})
    service.model.reply({ toolCalls: [{ id: 'c', name: 'web_search', arguments: { query: 'tides' } }] })
    const reply = service.model.reply({ text: 'At noon.' })
    await user.post('/runs/', { thread_id, assistant_id, input: [{ type: 'human', content: 'When?' }] })
    expect(JSON.stringify((await reply.arrived).body.messages.at(-1))).toContain('https://example.com/tides')
    expect(hits.at(-1)).toMatchObject({
      url: expect.stringContaining('q=tides'),
      headers: { 'x-subscription-token': key },
    })

    const shown = [(await admin('GET', '/admin/search')).text, put.text, (await admin('GET', '/admin/models')).text]
    const stored = JSON.stringify(await service.collections.modelSettings.find().lean())
    for (const text of [...shown, stored, ...logged]) expect(text).not.toContain(key)
    for (const text of [...shown, ...logged]) expect(text).not.toContain('rerank-secret-key')
    expect(stored).toContain('"provider":"brave"')
  })

  it('keeps the key only for its provider and address', async () => {
    await admin('PUT', '/admin/search', brave())
    const same = await admin('PUT', '/admin/search', { provider: 'brave', base_url: server.url })
    expect(same.body.web.key).toBe('set')
    const moved = await admin('PUT', '/admin/search', { provider: 'brave', base_url: 'https://elsewhere.example' })
    expect(moved.body.web).toMatchObject({ key: 'none', key_hint: '' })
    await admin('PUT', '/admin/search', brave())
    const other = await admin('PUT', '/admin/search', { provider: 'tavily', base_url: server.url })
    expect(other.body.web.key).toBe('none')
    expect(await isOffered()).toBe(false)
    expect((await admin('PUT', '/admin/search', { provider: null })).body.web.provider).toBeNull()
  })

  it.each([
    [{ provider: 'searxng' }, 'base_url'],
    [{ provider: 'searxng', base_url: 'http://user:word@search.example' }, 'base_url'],
    [{ provider: 'bing' }, 'provider'],
    [{ provider: 'brave', api_key: 'a\nb' }, 'api_key'],
  ])('refuses %j', async (body, member) => {
    const { status, text } = await admin('PUT', '/admin/search', body)
    expect(status).toBe(422)
    expect(text).toContain(member)
  })

  it('is tried, and so are the servers for embeddings and reranking', async () => {
    const attempt = async (what: string) => (await admin('POST', '/admin/search/try', { what, query: 'tides' })).body
    expect(await attempt('web')).toMatchObject({ works: false, problem: 'no search service is set' })
    await admin('PUT', '/admin/search', { provider: 'searxng', base_url: server.url })
    const page = { title: 'Tides', url: 'https://example.com/tides', text: 'High water.' }
    expect(await attempt('web')).toMatchObject({ works: true, problem: null, pages: [page] })
    expect(await attempt('embedding')).toMatchObject({ works: true, dimensions: 1536 })
    expect(await attempt('reranking')).toMatchObject({ works: false, scores: [] })
    await admin('PUT', '/admin/search', { provider: 'tavily', base_url: 'http://127.0.0.1:9', api_key: key })
    const failed = await attempt('web')
    expect(failed).toMatchObject({ works: false, pages: [] })
    expect(failed.problem).toContain('could not be reached')
    expect(failed.problem).not.toContain(key)
    const { status } = await apiClient(service.url, 'wrong').call('GET', '/admin/search')
    expect(status).toBe(401)
  })

  it('is that of the environment, if it names one', async () => {
    const env = { SEARCH_PROVIDER: 'tavily', SEARCH_URL: server.url, SEARCH_API_KEY: key, RERANK_BASE_URL: server.url }
    const own = await startService({ env, worker: false })
    try {
      const ask = (method: string, path: string, body?: unknown) =>
        apiClient(own.url, own.env['ADMIN_TOKEN']).call(method, path, body)
      await ask('PUT', '/admin/search', { provider: 'searxng', base_url: 'http://127.0.0.1:9' })
      const { body, text } = await ask('GET', '/admin/search')
      expect(body.web).toMatchObject({ provider: 'tavily', source: 'environment', key: 'set', key_hint: '' })
      expect(body.embedding.kind).toBe('none')
      expect(text).not.toContain(key)
      expect((await ask('POST', '/admin/search/try', { what: 'web', query: 'q' })).body.works).toBe(true)
      const judged = (await ask('POST', '/admin/search/try', { what: 'reranking', query: 'q' })).body
      expect(judged.scores.map(({ score }: { score: number }) => score)).toEqual([0.2, 0.1, 0])
      rerankStatus = 500
      const failed = (await ask('POST', '/admin/search/try', { what: 'reranking', query: 'q' })).body
      expect(failed).toMatchObject({ works: false, problem: 'the server for reranking answered 500' })
    } finally {
      await own.close()
    }
  })
})
