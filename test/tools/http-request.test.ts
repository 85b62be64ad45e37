import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOutbound } from '../../infra/outbound/create-outbound.ts'
import type { Outbound } from '../../services/outbound.ts'
import { checkArguments } from '../../services/tools/check-arguments.ts'
import { type HttpRequestConfig, httpRequestTool, httpRequestWarning } from '../../services/tools/http-request.ts'
import { readText, startHttpServer } from '../support/http-server.ts'
import { toolContext } from '../support/tool-context.ts'

describe('http_request', () => {
  let server: Awaited<ReturnType<typeof startHttpServer>>
  let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void
  let hits: { method: string | undefined; headers: IncomingMessage['headers']; body: string }[]
  const outbound = createOutbound({ outboundAllow: ['127.0.0.1'] })
  const strict = createOutbound({ outboundAllow: [] })

  beforeAll(async () => {
    server = await startHttpServer(async (request, response) => {
      const body = await readText(request)
      hits.push({ method: request.method, headers: request.headers, body })
      answer(request, response, body)
    })
  })
  afterAll(async () => {
    await server.close()
    await outbound.close()
    await strict.close()
  })
  beforeEach(() => {
    hits = []
    answer = (_request, response) => response.setHeader('content-type', 'text/plain').end('hello')
  })

  const run = (
    args: Record<string, unknown>,
    config: HttpRequestConfig = {},
    way: Pick<Outbound, 'fetchWith'> = outbound,
  ) => httpRequestTool('http_request', config, way).execute({ method: 'GET', url: server.url, ...args }, toolContext())

  it('returns status, type and body', async () => {
    expect(await run({})).toBe('HTTP 200 OK\ntext/plain\n\nhello')
    answer = (_request, response) => response.writeHead(404).end()
    expect(await run({})).toBe('HTTP 404 Not Found\nThe body is empty.')
  })

  it('sends text as it is and objects as JSON', async () => {
    await run({ method: 'POST', body: { a: 1 } })
    await run({ method: 'PUT', body: 'plain', headers: { 'content-type': 'text/csv', host: 'elsewhere' } })
    expect(hits).toMatchObject([
      { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } },
      { method: 'PUT', body: 'plain', headers: { 'content-type': 'text/csv', host: new URL(server.url).host } },
    ])
  })

  it('sends the configured headers, which take precedence and are masked in the answer', async () => {
    answer = (request, response) => response.end(JSON.stringify(request.headers))
    const text = await run(
      { headers: { 'X-Key': 'from the model', 'x-own': 'mine' } },
      { allowed_hosts: [new URL(server.url).host], headers: { 'x-key': 'key-4711-abc' } },
    )
    expect(hits[0]?.headers).toMatchObject({ 'x-key': 'key-4711-abc', 'x-own': 'mine' })
    expect(text).toContain('"x-key":"[hidden]"')
    expect(text).toContain('mine')
    expect(text).not.toContain('4711')
    const broken = run({}, { allowed_hosts: [new URL(server.url).host], headers: { 'x-key': 'key\n4711' } })
    await expect(broken).rejects.toThrow('the header "x-key" is not valid')
    await expect(broken).rejects.not.toThrow('4711')
  })

  it('does not send the configured headers without allowed_hosts, but masks them', async () => {
    const config = { headers: { 'x-key': 'key-4711-abc' } }
    answer = (_request, response) => response.end('is it key-4711-abc?')
    expect(await run({}, config)).toContain('is it [hidden]?')
    expect(hits[0]?.headers).not.toHaveProperty('x-key')
    expect(httpRequestWarning(config)).toContain('not sent')
    expect(httpRequestWarning({ ...config, allowed_hosts: [] })).toBeUndefined()
    expect(httpRequestWarning({ headers: {} })).toBeUndefined()
    await expect(run({}, { ...config, allowed_hosts: [] })).rejects.toThrow('This tool may not reach the host')
  })

  it('never sends the configured headers to another host after a redirect, not even an allowed one', async () => {
    const other = await startHttpServer((request, response) => {
      hits.push({ method: request.method, headers: request.headers, body: '' })
      response.end('there')
    })
    answer = (_request, response) => response.writeHead(307, { location: other.url }).end()
    const headers = { 'x-key': 'key-4711-abc' }
    const { host } = new URL(server.url)
    await expect(run({}, { allowed_hosts: [host], headers })).rejects.toThrow('This tool may not reach the host')
    expect(hits).toHaveLength(1)
    expect(await run({}, { allowed_hosts: [host, new URL(other.url).host], headers })).toContain('there')
    expect(hits.map((hit) => hit.headers['x-key'])).toEqual(['key-4711-abc', 'key-4711-abc', undefined])
    await other.close()
  })

  it('sends the configured headers over https to the usual port, or to a port that the list names, and says so otherwise', async () => {
    const received: boolean[] = []
    /** A server at every address, so that the usual ports and https can be asked for. */
    const everywhere: Pick<Outbound, 'fetchWith'> = {
      fetchWith: (options) => async (input, init) => {
        options.checkRequest?.(new URL(input instanceof Request ? input.url : input), String(init?.method))
        received.push(new Headers(init?.headers).has('x-key'))
        return new Response('there')
      },
    }
    const keyBack = 'configured headers were not sent'
    const ask = async (url: string, ...hosts: string[]) => {
      const config = { allowed_hosts: hosts, headers: { 'x-key': 'key-4711-abc' } }
      const text = await run({ url }, config, everywhere)
      expect(typeof text === 'string' && text.includes(keyBack)).toBe(received.at(-1) === false)
      return received.at(-1)
    }
    expect(await ask('https://api.example.com/', 'api.example.com')).toBe(true)
    expect(await ask('https://api.example.com:443/', 'API.example.com')).toBe(true)
    expect(await ask('https://api.example.com/', '*.example.com')).toBe(true)
    expect(await ask('http://api.example.com/', 'api.example.com')).toBe(false)
    expect(await ask('http://api.example.com/', '*.example.com')).toBe(false)
    expect(await ask('https://api.example.com:8443/', 'api.example.com')).toBe(false)
    expect(await ask('http://api.example.com:443/', 'api.example.com')).toBe(false)
    expect(await ask('https://api.example.com:8443/', 'api.example.com', 'api.example.com:8443')).toBe(true)
    expect(await ask('https://api.example.com:8443/', '*.example.com:8443')).toBe(true)
    expect(await ask('http://api.example.com/', 'api.example.com:80')).toBe(true)
    expect(await ask('http://[::1]:8080/', '[::1]:8080')).toBe(true)
    expect(await ask('http://[::1]:8080/', '[::1]')).toBe(false)
    await expect(ask('https://api.example.com/', 'api.example.com:8443')).rejects.toThrow('may not reach the host')

    // On a real server, and after a redirect to the same origin.
    answer = (request, response) =>
      request.url === '/' ? response.writeHead(307, { location: '/next' }).end() : response.end('hello')
    const { host, hostname } = new URL(server.url)
    const headers = { 'x-key': 'key-4711-abc' }
    expect(await run({}, { allowed_hosts: [hostname], headers })).toContain(keyBack)
    expect(await run({}, { allowed_hosts: [host], headers })).not.toContain(keyBack)
    expect(hits.map((hit) => 'x-key' in hit.headers)).toEqual([false, false, true, true])
  })

  it('uses only the configured methods, also after a redirect', async () => {
    const config: HttpRequestConfig = { methods: ['POST'] }
    const tool = httpRequestTool('http_request', config, outbound)
    expect(checkArguments(tool, { method: 'POST', url: server.url })).toBeUndefined()
    expect(checkArguments(tool, { method: 'DELETE', url: server.url })).toContain('allowed values: "POST"')
    await expect(run({ method: 'DELETE' }, config)).rejects.toThrow('may not use the method DELETE')
    expect(hits).toEqual([])
    // The fetch standard makes a GET of a POST that is answered with 303.
    answer = (_request, response) => response.writeHead(303, { location: '/elsewhere' }).end()
    await expect(run({ method: 'POST' }, config)).rejects.toThrow('may not use the method GET')
    expect(hits.map(({ method }) => method)).toEqual(['POST'])
  })

  it('reaches only allowed hosts, also after a redirect', async () => {
    const config = { allowed_hosts: ['127.0.0.1', '*.example.com'] }
    expect(await run({}, config)).toContain('hello')
    await expect(run({ url: 'http://example.com/' }, config)).rejects.toThrow('may not reach the host example.com')
    await expect(run({ url: 'http://evilexample.com/' }, config)).rejects.toThrow('may not reach')
    answer = (_request, response) => response.writeHead(302, { location: 'http://other.test/' }).end()
    await expect(run({}, config)).rejects.toThrow('may not reach the host other.test')
  })

  it('refuses private addresses', async () => {
    await expect(run({}, {}, strict)).rejects.toThrow('is not allowed')
    await expect(run({ url: 'http://169.254.169.254/latest/meta-data' }, {}, strict)).rejects.toThrow('is not allowed')
    await expect(run({ url: 'file:///etc/passwd' })).rejects.toThrow('Only http')
    await expect(run({ url: 'nonsense' })).rejects.toThrow('not valid')
    const gone = await startHttpServer(() => undefined)
    await gone.close()
    await expect(run({ url: gone.url })).rejects.toThrow('could not be reached (ECONNREFUSED)')
    expect(hits).toEqual([])
  })

  it('returns the beginning of a long answer, and does not read an endless one', async () => {
    answer = (_request, response) => response.end('y'.repeat(30_000))
    expect(await run({})).toMatch(/only the first 20000 of 30000 characters are shown/)
    const closed = Promise.withResolvers<void>()
    answer = (_request, response) => {
      response.once('close', closed.resolve)
      const more = () => void (response.destroyed || response.write('z'.repeat(100_000), () => setImmediate(more)))
      more()
    }
    expect(await run({})).toMatch(/longer than 1 MiB/)
    await closed.promise
  })

  it('describes content that is not text, and decodes other charsets', async () => {
    answer = (_request, response) => response.setHeader('content-type', 'image/png').end(Buffer.alloc(10))
    expect(await run({})).toContain('image/png, 10 bytes: not text')
    answer = (_request, response) =>
      response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from([0x67, 0xfc, 0x6e]))
    expect(await run({})).toContain('gün')
  })

  it('has a schema that refuses invalid calls', () => {
    const tool = httpRequestTool('http_request', {}, outbound)
    expect(checkArguments(tool, { method: 'GET', url: 'https://example.com' })).toBeUndefined()
    expect(checkArguments(tool, { method: 'FETCH', url: 1, more: true })).toMatch(
      /method must be equal to one of the allowed values: "GET".*url must be string|url must be string/,
    )
    expect(checkArguments(tool, {})).toContain("must have required property 'method'")
  })
})
