import { expect, test } from 'vitest'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'

const service = useStarted(() =>
  startService({
    worker: false,
    env: { MAILBOX_URL: 'http://127.0.0.1:1080', TEMPORAL_UI_URL: 'http://127.0.0.1:8233' },
  }),
)

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${service.url}${path}`, { headers })

test('every page of the console is the same file, with a strict content security policy', async () => {
  const page = await (await get('/')).text()
  expect(page).toContain('<div id="root">')
  for (const path of ['/login', '/reset-password?token=x', '/auth-callback', '/console/chat/some-thread']) {
    const response = await get(path)
    expect(response.status, path).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(await response.text()).toBe(page)
  }
})

test('scripts and styles are sent compressed and as immutable', async () => {
  const page = await (await get('/')).text()
  const files = [...page.matchAll(/(?:src|href)="(\/console-assets\/[^"]+)"/g)].map(([, file]) => file ?? '')
  expect(files.length).toBeGreaterThan(1)
  for (const file of files) {
    const response = await get(file, { 'accept-encoding': 'br' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-encoding')).toBe('br')
    expect(response.headers.get('cache-control')).toContain('immutable')
  }
  // All that the page names is its own.
  expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
})

test('an unknown path is answered 404 in the usual form', async () => {
  for (const path of [
    '/nothing',
    '/console-assets/nothing.js',
    '/console-assets/..%2f..%2fpackage.json',
    '/web/dist',
  ]) {
    const response = await get(path)
    expect(response.status, path).toBe(404)
    expect(await response.json()).toMatchObject({ detail: expect.any(String) })
  }
  expect((await fetch(`${service.url}/login`, { method: 'POST' })).status).toBe(405)
})

test('console-settings.json contains the addresses of local pages and no secret', async () => {
  const response = await get('/console-settings.json')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.json()).toEqual({
    product: { name: null, color: null },
    mailbox_url: 'http://127.0.0.1:1080',
    local_page: false,
    temporal_ui_url: 'http://127.0.0.1:8233',
    temporal_namespace: 'default',
    social_login: false,
    billing: false,
    can_listen: false,
    can_speak: false,
    suggests: false,
  })
})

test('a browser at an address that nothing has gets a page in its language; programs get JSON', async () => {
  const page = await get('/nowhere', { accept: 'text/html,*/*;q=0.8', 'accept-language': 'fr' })
  expect(page.status).toBe(404)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await page.text()).toContain('<html lang="fr">')
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[]) {
    const answer = await get('/nowhere', headers)
    expect([answer.status, await answer.json()]).toEqual([404, { detail: 'Not found.' }])
  }
})
