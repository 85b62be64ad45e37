import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type SearchAccount, searchAccountOf } from '../../domain/search-account.ts'
import { webSearchTool } from '../../services/tools/web-search.ts'
import { readText, sendJson, startHttpServer } from '../support/http-server.ts'
import { toolContext } from '../support/tool-context.ts'

/** Local servers that speak the HTTP interfaces of SearXNG, Brave and Tavily, as they document them. */
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
  const run = (account: SearchAccount) =>
    webSearchTool('web_search', account, fetch).execute({ query: 'tea & cake' }, toolContext(AbortSignal.timeout(5000)))
  const searxng = () => ({ provider: 'searxng' as const, baseUrl: server.url, apiKey: undefined })
  const brave = () => ({ provider: 'brave' as const, baseUrl: server.url, apiKey: 'brave-key' })
  const tavily = () => ({ provider: 'tavily' as const, baseUrl: server.url, apiKey: 'tvly-key' })

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

  it('asks Brave, whose excerpts hold tags', async () => {
    const found = { title: 'The <strong>tea</strong>', url: 'https://example.com/1', description: 'Hot\n<b>tea</b> &' }
    answer.body = { type: 'search', web: { type: 'search', results: [found] } }
    expect(await run(brave())).toBe('[1] The tea\nhttps://example.com/1\nHot tea &')
    expect(hit).toMatchObject({ method: 'GET', headers: { 'x-subscription-token': 'brave-key' } })
    expect(hit.url).toBe('/web/search?q=tea+%26+cake&count=5&text_decorations=false')
    answer.body = { type: 'search' }
    expect(await run(brave())).toBe('Nothing was found.')
    answer.body = { type: 'ErrorResponse' }
    await expect(run(brave())).rejects.toThrow('invalid answer')
  })

  it('keeps titles and excerpts of several lines in one', async () => {
    answer.body = { results: [{ title: 'A\n[2] B', url: 'https://example.com/1', content: 'x\n[3] y\nhttps://z' }] }
    expect(await run(searxng())).toBe('[1] A [2] B\nhttps://example.com/1\nx [3] y https://z')
  })

  it('reports no results and failures of the service', async () => {
    answer = { status: 200, body: { results: [] } }
    expect(await run(searxng())).toBe('Nothing was found.')
    answer = { status: 403, body: {} }
    await expect(run(tavily())).rejects.toThrow(/status 403: it does not accept the key$/)
    await expect(run(searxng())).rejects.toThrow('status 403: its settings must name the format json')
    answer = { status: 200, body: { nothing: true } }
    await expect(run(searxng())).rejects.toThrow('invalid answer')
    await expect(run({ ...searxng(), baseUrl: 'http://127.0.0.1:9' })).rejects.toThrow('could not be reached')
  })

  it('is available if the settings are sufficient', () => {
    expect(searchAccountOf({})).toBeUndefined()
    expect(searchAccountOf({ provider: 'searxng', baseUrl: undefined, apiKey: 'k' })).toBeUndefined()
    expect(searchAccountOf({ provider: 'tavily' })).toBeUndefined()
    expect(searchAccountOf({ provider: 'brave', baseUrl: 'https://b.example' })).toBeUndefined()
    expect(searchAccountOf(searxng())).toEqual(searxng())
    expect(searchAccountOf({ provider: 'brave', apiKey: 'k' })).toBeDefined()
  })
})
