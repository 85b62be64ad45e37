import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../domain/errors.ts'
import { createOutbound } from '../../infra/outbound/create-outbound.ts'
import { readText, startHttpServer } from '../support/http-server.ts'

type Hit = { method: string | undefined; headers: IncomingMessage['headers']; body: string }

/** Two real servers on loopback: `trusted.test` is allowed by name, everything else on loopback is not. */
describe('the guarded fetch', () => {
  let server: Awaited<ReturnType<typeof startHttpServer>>
  let other: Awaited<ReturnType<typeof startHttpServer>>
  let outbound: ReturnType<typeof createOutbound>
  let lookups: string[]
  const hits: Hit[] = []
  const otherHits: Hit[] = []
  let answer: (response: ServerResponse) => void

  const record = (list: Hit[]) => async (request: IncomingMessage, response: ServerResponse) => {
    list.push({ method: request.method, headers: request.headers, body: await readText(request) })
    if (list === hits) answer(response)
    else response.end('other')
  }
  beforeAll(async () => {
    server = await startHttpServer(record(hits))
    other = await startHttpServer(record(otherHits))
  })
  afterAll(async () => {
    await server.close()
    await other.close()
  })
  beforeEach(() => {
    hits.length = 0
    otherHits.length = 0
    lookups = []
    answer = (response) => response.end('ok')
    outbound = createOutbound({ outboundAllow: ['trusted.test', 'second.test'] }, async (hostname) => {
      lookups.push(hostname)
      if (hostname === 'nowhere.test') throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
      return [{ address: '127.0.0.1', family: 4 }]
    })
  })
  afterEach(() => outbound.close())

  const trusted = () => `http://trusted.test:${server.port}/`
  const redirectTo = (location: string, status = 302) => {
    answer = (response) => {
      answer = (next) => next.end('after')
      response.writeHead(status, { location }).end()
    }
  }

  it('reaches an allowed name, resolved once', async () => {
    const response = await outbound.fetch(trusted())
    expect(await response.text()).toBe('ok')
    expect(lookups).toEqual(['trusted.test'])
  })

  it.each([
    'http://127.0.0.1',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://2130706433',
    'http://0x7f.1',
    'http://evil.test',
    'http://localhost',
  ])('refuses %s before a connection is made', async (origin) => {
    await expect(outbound.fetch(`${origin}:${server.port}/`)).rejects.toMatchObject({ code: 'forbidden' })
    expect(hits).toEqual([])
  })

  it('says the same of a name of our own network and of one that does not exist', async () => {
    const said = async (work: Promise<unknown>) => {
      const error: unknown = await work.catch((caught: unknown) => caught)
      if (!(error instanceof AppError)) throw new Error('it was not refused')
      return { name: error.name, code: error.code, message: error.message, fields: error.fields }
    }
    for (const ask of [
      (host: string) => outbound.fetch(`http://${host}:${server.port}/`),
      (host: string) => outbound.fetchWith({ maxRedirects: 0 })(`https://${host}/`),
      (host: string) => outbound.assertReachable(`http://${host}/`, ['body', 'url']),
    ]) {
      const ofMissing = await said(ask('nowhere.test'))
      expect(ofMissing.message).toContain('does not exist or is not allowed')
      expect(await said(ask('database.internal'))).toEqual(ofMissing)
    }
    expect(hits).toEqual([])
  })

  it('connects only to the allowed addresses of a name', async () => {
    const mixed = createOutbound({ outboundAllow: ['127.0.0.1'] }, async () => [
      { address: '10.0.0.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ])
    expect((await mixed.fetch(`http://mixed.test:${server.port}/`)).status).toBe(200)
    await mixed.close()
  })

  it('connects to the checked address, whatever the name resolves to next', async () => {
    const answers = ['127.0.0.1', '10.0.0.1']
    const rebinding = createOutbound({ outboundAllow: ['127.0.0.1'] }, async () => [
      { address: answers.shift() ?? '', family: 4 },
    ])
    expect((await rebinding.fetch(`http://rebind.test:${server.port}/`)).status).toBe(200)
    expect(answers).toEqual(['10.0.0.1'])
    await rebinding.close()
  })

  it.each([301, 302, 303, 307, 308])('refuses a redirect (%i) to a private address', async (status) => {
    redirectTo(`http://127.0.0.1:${other.port}/`, status)
    await expect(outbound.fetch(trusted())).rejects.toMatchObject({ code: 'forbidden' })
    expect(otherHits).toEqual([])
  })

  it('refuses a redirect to another protocol', async () => {
    redirectTo('file:///etc/passwd')
    await expect(outbound.fetch(trusted())).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('sends no private headers to another origin', async () => {
    redirectTo(`http://second.test:${other.port}/`, 307)
    await outbound.fetch(trusted(), {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'x-api-key': 'secret', authorization: 'Bearer s', 'content-type': 'application/json' },
    })
    expect(hits[0]?.headers).toMatchObject({ 'x-api-key': 'secret', authorization: 'Bearer s' })
    expect(otherHits[0]).toMatchObject({
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    })
    expect(otherHits[0]?.headers).not.toHaveProperty('x-api-key')
    expect(otherHits[0]?.headers).not.toHaveProperty('authorization')
  })

  it('keeps headers within the origin, and changes a POST to a GET by the standard', async () => {
    redirectTo('/next', 303)
    const response = await outbound.fetch(trusted(), { method: 'POST', body: 'x', headers: { 'x-api-key': 'secret' } })
    expect(await response.text()).toBe('after')
    expect(hits.map(({ method, body }) => [method, body])).toEqual([
      ['POST', 'x'],
      ['GET', ''],
    ])
    expect(hits[1]?.headers).toMatchObject({ 'x-api-key': 'secret' })
  })

  it('follows a limited number of redirects, and checks each', async () => {
    answer = (response) => response.writeHead(302, { location: '/again' }).end()
    await expect(outbound.fetch(trusted())).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(hits).toHaveLength(6)
    hits.length = 0
    await expect(outbound.fetchWith({ maxRedirects: 0 })(trusted())).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(hits).toHaveLength(1)
    const asked: string[] = []
    const checked = outbound.fetchWith({
      checkRequest: (url) => {
        asked.push(url.pathname)
        if (url.pathname === '/again') throw new Error('not there')
      },
    })
    await expect(checked(trusted())).rejects.toThrow('not there')
    expect(asked).toEqual(['/', '/again'])
  })

  it('reads no more of a body than allowed', async () => {
    answer = (response) => response.end('x'.repeat(1000))
    expect(await (await outbound.fetchWith({ maxBytes: 1000 })(trusted())).text()).toHaveLength(1000)
    const tooLong = await outbound.fetchWith({ maxBytes: 999 })(trusted())
    await expect(tooLong.text()).rejects.toMatchObject({ code: 'upstream_failed' })
  })

  it('checks an address when it is configured', async () => {
    const check = (url: string) => outbound.assertReachable(url, ['body', 'base_url'])
    await expect(check(trusted())).resolves.toBeUndefined()
    await expect(check('https://8.8.8.8/v1')).resolves.toBeUndefined()
    for (const url of [
      'http://127.0.0.1/',
      'http://evil.test',
      'http://nowhere.test',
      'ftp://8.8.8.8',
      'http://a:b@8.8.8.8',
      'none',
    ]) {
      await expect(check(url), url).rejects.toMatchObject({
        code: 'invalid_input',
        fields: [{ loc: ['body', 'base_url'] }],
      })
    }
  })
})
