import { beforeAll, describe, expect, it } from 'vitest'
import { useModelService } from '../support/model-service.ts'
import { newPublicAssistant } from './public-assistant.ts'

const configured = 'https://front.test'
const ones = 'https://one.test'
const others = 'https://two.test'
const strangers = 'https://stranger.test'

describe('CORS of the public family', () => {
  const service = useModelService({ respond: () => ({ text: 'Hi' }), env: { CORS_ORIGINS: configured } })
  let one: Awaited<ReturnType<typeof newPublicAssistant>>
  let open: Awaited<ReturnType<typeof newPublicAssistant>>

  beforeAll(async () => {
    one = await newPublicAssistant(service, { config: { 'type==agent/allowed_origins': [ones] } })
    await newPublicAssistant(service, { config: { 'type==agent/allowed_origins': [others] } })
    open = await newPublicAssistant(service)
  })

  const allowed = (response: Response) => response.headers.get('access-control-allow-origin')
  const preflight = (path: string, headers: Record<string, string>) =>
    fetch(`${service.url}${path}`, { method: 'OPTIONS', headers })
  const wanted = {
    'access-control-request-method': 'POST',
    'access-control-request-headers':
      'authorization,content-type,openai-beta,x-stainless-os,x-stainless-retry-count,x-public-bot-token,x-evil',
  }

  it.each([
    '/public/runs/stream',
    ...['/public/compat/v1', '/public/v1'].flatMap((base) =>
      [
        '/chat/completions',
        '/assistants',
        '/assistants/some',
        '/models',
        '/threads',
        '/threads/t/messages',
        '/threads/t/runs',
      ].map((path) => base + path),
    ),
  ])('answers preflights of %s for every origin that an assistant lists', async (path) => {
    for (const origin of [configured, ones, others]) {
      const response = await preflight(path, { origin, ...wanted })
      expect(response.status).toBe(200)
      expect(allowed(response)).toBe(origin)
      expect(response.headers.get('access-control-allow-credentials')).toBe('true')
      expect(response.headers.get('access-control-allow-methods')).toContain('POST')
      expect(response.headers.get('access-control-allow-headers')?.split(', ')).toEqual([
        'authorization',
        'content-type',
        'openai-beta',
        'x-stainless-os',
        'x-stainless-retry-count',
        'x-public-bot-token',
      ])
      expect(response.headers.get('vary')).toContain('Origin')
    }
    for (const headers of [{ origin: strangers, ...wanted }, { origin: 'null', ...wanted }, {}]) {
      const response = await preflight(path, headers)
      expect(response.status).toBe(200)
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  const complete = (token: string, origin: string, stream = false) =>
    fetch(`${service.url}/public/v1/chat/completions`, {
      method: 'POST',
      headers: { origin, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream }),
    })

  it('checks a request against the list of its own assistant', async () => {
    for (const origin of [ones, configured, new URL(service.settings.baseUrl).origin]) {
      for (const stream of [false, true]) {
        const response = await complete(one.token, origin, stream)
        expect(response.status).toBe(200)
        expect(allowed(response)).toBe(origin)
        await response.text()
      }
    }
    const before = service.model.requests.length
    for (const origin of [others, strangers]) {
      const response = await complete(one.token, origin)
      expect(response.status).toBe(403)
      expect(allowed(response)).toBeNull()
      expect(await response.json()).toMatchObject({ detail: expect.any(String), error: { type: 'permission_error' } })
    }
    expect(service.model.requests.length).toBe(before)
  })

  it('sends no CORS headers for an assistant without origins', async () => {
    const response = await complete(open.token, others)
    expect(response.status).toBe(200)
    expect(allowed(response)).toBeNull()
  })

  it('lets allowed pages read refusals', async () => {
    const refused = await complete('wrong', ones)
    expect([refused.status, allowed(refused)]).toEqual([401, ones])
    const stranger = await complete('wrong', strangers)
    expect([stranger.status, allowed(stranger)]).toEqual([401, null])
  })

  it('is the same on the native stream', async () => {
    const run = (origin: string, token: string) =>
      fetch(`${service.url}/public/runs/stream`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json' },
        body: JSON.stringify({ assistant_id: one.id, token, input: [{ type: 'human', content: 'Hi' }] }),
      })
    const good = await run(ones, one.token)
    expect([good.status, allowed(good)]).toEqual([200, ones])
    await good.text()
    const bad = await run(others, one.token)
    expect([bad.status, allowed(bad)]).toEqual([403, null])
    const refused = await run(ones, 'wrong')
    expect([refused.status, allowed(refused)]).toEqual([401, ones])
  })
})
