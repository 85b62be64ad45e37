import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type WebSearchSettings, canSearch, webSearchTool } from '../../services/tools/web-search.ts'
import { readText, sendJson, startHttpServer } from '../support/http-server.ts'
import { toolContext } from '../support/tool-context.ts'

/** Local servers that speak the HTTP interfaces of SearXNG and Tavily. */
describe('web_search', () => {
  let server: Awaited<ReturnType<typeof startHttpServer>>
  let hit: { method: string | undefined; url: string; headers: IncomingMessage['headers']; body: string }
  let answer: { status: number; body: unknown }
  beforeAll(async () => {
    server = await startHttpServer(async (request, response) => {
      hit = { method: request.method, url: request.url ?? '', headers: request.headers, body: await readText(request) }
      sendJson(response, answer.status, answer.body)
    })
  })
  afterAll(() => server.close())
  beforeEach(() => {
    const result = (n: number) => ({
      title: `Page ${n}`,
      url: `https://example.com/${n}`,
      content: `Text ${n}`,
      score: 1,
    })
    answer = { status: 200, body: { query: 'q', results: [1, 2, 3, 4, 5, 6, 7].map(result) } }
  })
  const run = (settings: WebSearchSettings) =>
    webSearchTool('web_search', settings, fetch).execute(
      { query: 'tea & cake' },
      toolContext(AbortSignal.timeout(5000)),
    )
  const searxng = () => ({ searchProvider: 'searxng' as const, searchUrl: server.url })
  const tavily = () => ({ searchProvider: 'tavily' as const, searchUrl: server.url, searchApiKey: 'tvly-key' })

  it('asks SearXNG', async () => {
    const text = await run(searxng())
    expect(hit).toMatchObject({ method: 'GET', url: '/search?q=tea+%26+cake&format=json' })
    expect(text).toContain('[1] Page 1\nhttps://example.com/1\nText 1')
    expect(text).toContain('[5]')
    expect(text).not.toContain('[6]')
  })

  it('asks Tavily', async () => {
    const text = await run(tavily())
    expect(hit).toMatchObject({ method: 'POST', url: '/search', headers: { authorization: 'Bearer tvly-key' } })
    expect(JSON.parse(hit.body)).toEqual({ query: 'tea & cake', max_results: 5 })
    expect(text).toContain('Page 2')
  })

  it('reports no results and failures of the service', async () => {
    answer = { status: 200, body: { results: [] } }
    expect(await run(searxng())).toBe('Nothing was found.')
    answer = { status: 403, body: {} }
    await expect(run(tavily())).rejects.toThrow('status 403')
    answer = { status: 200, body: { nothing: true } }
    await expect(run(searxng())).rejects.toThrow('invalid answer')
    await expect(run({ ...searxng(), searchUrl: 'http://127.0.0.1:9' })).rejects.toThrow('could not be reached')
  })

  it('is available if the settings are sufficient', () => {
    expect(canSearch({})).toBe(false)
    expect(canSearch({ searchProvider: 'searxng' })).toBe(false)
    expect(canSearch({ searchProvider: 'tavily' })).toBe(false)
    expect(canSearch(searxng())).toBe(true)
    expect(canSearch({ searchProvider: 'tavily', searchApiKey: 'k' })).toBe(true)
  })
})
