import { expect, it } from 'vitest'
import { isFromLocalPage } from '../../api/routes/local/index.ts'

const page = { host: '127.0.0.1:8100', origin: 'http://127.0.0.1:8100', 'sec-fetch-site': 'same-origin' }
const from = (headers: Record<string, string | undefined>, remoteAddress = '127.0.0.1') =>
  isFromLocalPage({ headers, raw: { socket: { remoteAddress } } })

it('is the page that a browser on this machine has from this service', () => {
  expect(from(page)).toBe(true)
  expect(from(page, '::ffff:127.0.0.1')).toBe(true)
  expect(from({ host: 'localhost:8100', origin: 'http://localhost:8100' }, '::1')).toBe(true)
  expect(from({ host: '[::1]:8100', origin: 'http://[::1]:8100' }, '::1')).toBe(true)
})

it.each([
  ['another machine', page, '192.168.1.7'],
  ['a connection without an address', page, ''],
  ['a name that leads to this machine', { host: 'evil.example:8100', origin: 'http://evil.example:8100' }, undefined],
  [
    'a name that begins like this machine',
    { host: '127.0.0.1.evil.example', origin: 'http://127.0.0.1.evil.example' },
    undefined,
  ],
  ['a page of another site', { ...page, origin: 'https://evil.example' }, undefined],
  ['a page of another port', { ...page, origin: 'http://127.0.0.1:3000' }, undefined],
  ['a page without an origin', { ...page, origin: undefined }, undefined],
  ['a sandboxed page', { ...page, origin: 'null' }, undefined],
  ['a request across sites', { ...page, 'sec-fetch-site': 'cross-site' }, undefined],
  ['a tunnel that names the address of its guest', { ...page, 'x-forwarded-for': '203.0.113.9' }, undefined],
  ['a proxy', { ...page, via: '1.1 proxy' }, undefined],
  ['a tunnel with TLS', { ...page, origin: 'https://127.0.0.1:8100' }, undefined],
])('is not %s', (_what, headers, address) => {
  expect(from(headers, address)).toBe(false)
})
