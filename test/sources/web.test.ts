import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createOutbound } from '../../infra/outbound/create-outbound.ts'
import { createWeb } from '../../infra/web/web.ts'
import { startHttpServer } from '../support/http-server.ts'

describe('a crawler on the web', () => {
  async function webBefore(
    handler: Parameters<typeof startHttpServer>[0],
    { outboundAllow = ['127.0.0.1'], requestMs = 60_000 } = {},
  ) {
    const site = await startHttpServer(handler)
    const outbound = createOutbound({ outboundAllow })
    onTestFinished(async () => {
      await outbound.close()
      await site.close()
    })
    const web = createWeb({ outbound, contactUrl: 'https://platform.example', pauseMs: 0, requestMs })
    const signal = new AbortController().signal
    return {
      site,
      web,
      signal,
      ask: (path: string, known: object = {}) => web.ask(`${site.url}${path}`, { pauseMs: 0, signal, ...known }),
    }
  }

  it('ends answers that drip, and those that never begin', async () => {
    const drips = new Set<NodeJS.Timeout>()
    const { ask } = await webBefore(
      (request, response) => {
        if (request.url === '/silent') return
        response.writeHead(200, { 'content-type': 'text/html' })
        drips.add(setInterval(() => response.write('x'), 20))
        response.once('close', () => drips.forEach((drip) => clearInterval(drip)))
      },
      { requestMs: 300 },
    )
    const late = { kind: 'failed', reason: 'The site did not answer completely within 0.3 seconds.' }
    expect(await ask('/drip')).toEqual(late)
    expect(await ask('/silent')).toEqual(late)
  })

  it('ends answers that unpack to more than they may, and fails before a closed port', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024))
    const { ask, site } = await webBefore((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/gzip' }).end(bomb)
    })
    expect(await ask('/bomb.xml.gz')).toEqual({ kind: 'refused', reason: 'It is larger than 25 MB.' })
    await site.close()
    expect(await ask('/closed')).toMatchObject({ kind: 'failed' })
  })

  it('has one connection to a host at a time, tells redirects, and asks whether a page has changed', async () => {
    let [open, most] = [0, 0]
    const { ask } = await webBefore(async (request, response) => {
      most = Math.max(most, ++open)
      await new Promise((resolve) => setTimeout(resolve, 20))
      open -= 1
      if (request.url === '/old') return void response.writeHead(302, { location: '/new' }).end()
      if (request.headers['if-none-match'] === '"1"') return void response.writeHead(304).end()
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', etag: '"1"' }).end('<p>text</p>')
    })
    const answers = await Promise.all([ask('/a'), ask('/b'), ask('/c', { etag: '"1"' }), ask('/old')])
    expect(answers.map(({ kind }) => kind)).toEqual(['content', 'content', 'unchanged', 'redirect'])
    expect(answers[0]).toMatchObject({ contentType: 'text/html', etag: '"1"' })
    expect(most).toBe(1)
  })

  it('reads nothing of a site that cannot say its rules, and reaches no address inside', async () => {
    const { web, site, signal } = await webBefore((_request, response) => void response.writeHead(503).end())
    const rules = await web.rulesOf(`${site.url}/a`, signal)
    expect(rules).toMatchObject({ isTemporary: true })
    expect(rules.refusal(`${site.url}/a`)).toContain('503')
    const guarded = await webBefore(() => undefined, { outboundAllow: [] })
    expect(await guarded.ask('/')).toMatchObject({ kind: 'refused' })
  })
})
