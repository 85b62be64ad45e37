import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'

const configured = 'https://app.example.com'

describe('unusual requests', () => {
  const service = useStarted(() => startService({ worker: false, env: { CORS_ORIGINS: configured } }))

  /** Sends the path as it stands; `fetch` would tidy it up. */
  function send(method: string, path: string, headers: Record<string, string> = {}) {
    return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(service.url)
      const request = httpRequest({ hostname, port, method, path, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      })
      request.on('error', reject)
      request.end()
    })
  }

  it.each(['QUERY', 'PROPFIND', 'SEARCH', 'TRACE', 'PURGE', 'LOCK', 'DELETE'])(
    '%s is answered 405 with Allow on a known path, 404 on an unknown one',
    async (method) => {
      for (const [path, allow] of [
        ['/ok', 'GET'],
        ['/docs', 'GET'],
        ['/threads/', 'GET, POST'],
        // Not the identifier of an assistant, which can be deleted.
        ['/assistants/public/?limit=1', 'GET'],
        ['/public/v1/models', 'GET, OPTIONS'],
      ] as const) {
        const answer = await send(method, path)
        expect([method, path, answer.status, answer.headers['allow']]).toEqual([method, path, 405, allow])
        expect(JSON.parse(answer.text).detail).toBe(`${method} is not allowed here.`)
      }
      const nowhere = await send(method, '/nowhere')
      expect([nowhere.status, JSON.parse(nowhere.text)]).toEqual([404, { detail: 'Not found.' }])
    },
  )

  it.each([
    '/docs/nothing',
    '/docs/%',
    '/docs/static/nothing.js',
    '/docs/static/%2e%2e/package.json',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/static/%00',
    '/docs/static/%FF',
    '/docs/static/a%5c..%5cb',
    `/docs/static/${'a'.repeat(600)}`,
    `/docs/static/${'a/'.repeat(2000)}`,
    '/redoc/nothing',
    '/redoc/..%2f',
    '/redoc/%00',
    '/redoc/%c0%ae',
    '/redoc/.hidden',
    '/redoc/redoc.standalone.js%00',
    `/redoc/${'a'.repeat(5000)}`,
    '/docs/json',
    '/docs/yaml',
    '/console-assets/',
    '/console-assets/%',
    '/console-assets/%00',
    '/console-assets/a.js%00.css',
    '/console-assets/%FF',
    '/console-assets/%2e%2e%2findex.html',
    '/console-assets/a%5c..%5cb',
    `/console-assets/${'a'.repeat(600)}`,
    `/console-assets/${'a/'.repeat(2000)}`,
  ])('%.60s is answered 404', async (path) => {
    for (const method of ['GET', 'HEAD']) expect([method, (await send(method, path)).status]).toEqual([method, 404])
    expect(JSON.parse((await send('GET', path)).text)).toEqual({ detail: 'Not found.' })
  })

  it('with an undecodable URL are answered 400 with detail', async () => {
    const answer = await send('GET', '/assistants/%zz')
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, { detail: 'The URL is invalid.' }])
    expect(answer.headers).toMatchObject({ 'x-request-id': expect.any(String), 'cache-control': 'no-store' })
  })

  it('with a query that is valid, but too long for the head of a request, are answered 431, as documented', async () => {
    // 2,048 characters, which UTF-8 and percent signs make 24,576.
    const url = '\u{1f511}'.repeat(2048)
    const answer = await send('GET', `/user/picture?url=${encodeURIComponent(url)}`)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([431, { detail: 'The head of the request is too large.' }])
    const { paths } = JSON.parse((await send('GET', '/openapi.json')).text)
    expect(paths['/user/picture'].get.responses['431'].content['application/json'].schema).toEqual({
      $ref: expect.stringContaining('ErrorDetail'),
    })
    expect(paths['/user/'].get.responses).not.toHaveProperty('431')
  })

  it('with an id of more than 500 characters are answered 404 in the form of the route', async () => {
    const id = 'a'.repeat(501)
    const user = await insertUser(service)
    for (const path of [`/threads/${id}`, `/runs/${id}/stream`, `/assistants/${id}/files`, `/receipts/${id}`]) {
      const answer = await user.call('GET', path)
      expect([path.length, answer.status, answer.body]).toEqual([path.length, 404, { detail: 'Not found.' }])
    }
    for (const path of [`/public/v1/models/${id}`, `/public/compat/v1/threads/${id}/messages`]) {
      const answer = await user.call('GET', path)
      expect([answer.status, answer.body.detail, answer.body.error.code]).toEqual([404, 'Not found.', 'not_found'])
    }
    expect((await user.call('GET', `/threads/${id.slice(1)}`)).status).toBe(422)
  })

  describe('from other origins', () => {
    const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
    const paths = ['/threads/', '/ok', '/codec/decode', '/auth/login', '/nowhere', '/docs', '/openapi.json', '/admin/x']

    it('every preflight is answered 200, and so is a plain OPTIONS request', async () => {
      for (const path of [...paths, '/public/runs/stream', `/threads/${'a'.repeat(501)}`, '/assistants/a/files']) {
        for (const origin of [configured, 'https://evil.example', 'null', undefined]) {
          for (const question of [preflight, {}]) {
            const answer = await send('OPTIONS', path, { ...question, ...(origin ? { origin } : {}) })
            expect([path, origin, answer.status, answer.text]).toEqual([path, origin, 200, ''])
          }
        }
      }
    })

    it('a configured origin gets the requested methods and headers', async () => {
      const answer = await send('OPTIONS', '/threads/', { origin: configured, ...preflight })
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': configured,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': 'authorization',
        'access-control-max-age': '600',
      })
      expect(answer.headers['vary']).toContain('Origin')
      const got = await send('GET', '/threads/', { origin: configured })
      expect(got.headers).toMatchObject({ 'access-control-allow-origin': configured, vary: 'Origin' })
    })

    const strangers: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: configured + '.x' },
      {},
    ]

    it('other origins get no CORS headers', async () => {
      for (const path of paths) {
        for (const headers of strangers) {
          for (const method of ['OPTIONS', 'GET', 'POST']) {
            const answer = await send(method, path, { ...headers, ...preflight })
            const allowing = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))
            expect([method, path, allowing]).toEqual([method, path, []])
          }
        }
      }
    })
  })

  it('are answered with no-store, except static pages', async () => {
    const user = await insertUser(service)
    for (const path of ['/ok', '/threads/', '/assistants/public/', '/nowhere', '/user/', '/public/v1/models']) {
      expect([path, (await user.call('GET', path)).headers.get('cache-control')]).toEqual([path, 'no-store'])
    }
    for (const [path, method] of [
      ['/auth/login', 'POST'],
      ['/auth/social/login', 'GET'],
      ['/threads/', 'OPTIONS'],
      ['/docs/static/nothing', 'GET'],
    ] as const) {
      expect([path, (await send(method, path)).headers['cache-control']]).toEqual([path, 'no-store'])
    }
    for (const path of [
      '/openapi.json',
      '/docs',
      '/docs/static/swagger-ui.css',
      '/redoc',
      '/redoc/redoc.standalone.js',
    ]) {
      const answer = await send('GET', path)
      expect([path, answer.status, String(answer.headers['cache-control']).includes('no-store')]).toEqual([
        path,
        200,
        false,
      ])
    }
  })
})
