import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { conversation } from '../runs/support.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService({ respond: () => ({ text: 'Hello.' }) })
const gif = Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64')
let atOnce = 0
let most = 0
const slowly: (() => void)[] = []
const site = createServer((request, response) => {
  if (request.url?.startsWith('/slow')) {
    most = Math.max(most, ++atOnce)
    response.writeHead(200, { 'content-type': 'image/gif' }).write(gif.subarray(0, 10))
    return void slowly.push(() => {
      atOnce -= 1
      response.end(gif.subarray(10))
    })
  }
  if (request.url === '/inner') return void response.writeHead(302, { location: 'http://10.0.0.1/x.gif' }).end()
  if (request.url === '/endless') return void response.writeHead(200).write(Buffer.concat([gif, Buffer.alloc(9 << 20)]))
  response.writeHead(200, { 'content-type': 'image/png' }).end(request.url === '/one.gif' ? gif : '<script>1</script>')
})
beforeAll(() => new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve)))
afterAll(() => void site.close())

it('reads pictures of other sites, and nothing else', async () => {
  const user = await insertUser(service)
  const at = (path: string) => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`
  const read = (url: string) => user.fetch('GET', `/user/picture?url=${encodeURIComponent(url)}`)
  const shown = await read(at('/one.gif'))
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
  expect(Buffer.from(await shown.arrayBuffer())).toEqual(gif)
  expect(shown.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  const refused = async (url: string) => {
    const answer = await read(url)
    const body = (await answer.json()) as { detail: { loc: string[]; msg: string; type: string }[] }
    const { loc, msg, type } = body.detail[0] ?? {}
    expect([answer.status, loc]).toEqual([422, ['query', 'url']])
    return `${type}: ${msg}`
  }
  expect(await refused(at('/page.png'))).toBe('invalid_file: is not a PNG, JPEG, GIF or WebP image')
  expect(await refused(at('/inner'))).toMatch(/^unreachable/)
  expect(await refused(at('/endless'))).toMatch(/^unreachable/)
  expect(await refused('http://10.0.0.1/x.gif')).toMatch(/^unreachable/)
  for (const url of [`data:image/gif;base64,${gif.toString('base64')}`, 'file:///etc/passwd', 'not an address'])
    expect(await refused(url)).toMatch(/must be an http or https address/)
})

it('reads at most four pictures of one user at once, for messages and for the console', async () => {
  const talk = await conversation(service)
  const at = (name: string) => `http://127.0.0.1:${(site.address() as AddressInfo).port}/slow/${name}.gif`
  const shown = Array.from({ length: 10 }, (_, index) =>
    talk.client.fetch('GET', `/user/picture?url=${encodeURIComponent(at(`shown-${index}`))}`),
  )
  const asked = Array.from({ length: 10 }, (_, index) => {
    const input = [{ type: 'human', content: [{ type: 'image_url', image_url: { url: at(`asked-${index}`) } }] }]
    return talk.client.post('/runs/', talk.payload('', { input }))
  })
  for (let ended = 0; ended < shown.length + asked.length; ended++) {
    await vi.waitFor(() => expect(slowly.length).toBeGreaterThan(ended), { timeout: 20_000 })
    slowly[ended]?.()
  }
  expect((await Promise.all(shown)).map(({ status }) => status)).toEqual(shown.map(() => 200))
  expect(await Promise.all(asked)).toHaveLength(10)
  expect(most).toBe(4)
})
