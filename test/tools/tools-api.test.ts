import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { apiClient } from '../support/api-client.ts'
import { startHttpServer } from '../support/http-server.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'

const service = useStarted(() => startService({ worker: false, env: { OUTBOUND_ALLOW: '127.0.0.1' } }))

describe('GET /tools/', () => {
  it('lists every tool with valid JSON Schemas', async () => {
    const { call } = await insertUser(service)
    const { status, body } = await call('GET', '/tools/')
    expect(status).toBe(200)
    expect(body.map((tool: { type: string }) => tool.type)).toEqual([
      'retrieval',
      'http_request',
      'mcp',
      'web_search',
      'schedule',
      'memory',
      'assistant',
      'code',
      'client',
    ])
    const ajv = new Ajv2020({ strict: false })
    for (const tool of body) {
      expect(tool.parameters.type).toBe('object')
      expect(ajv.validateSchema(tool.parameters)).toBe(true)
      expect(ajv.validateSchema(tool.config_schema)).toBe(true)
    }
    expect(body[1].parameters).toMatchObject({ required: ['method', 'url'], properties: { url: { type: 'string' } } })
    expect(body[3]).toMatchObject({ name: 'web_search', available: false })
  })

  it('requires a user', async () => {
    expect((await apiClient(service.url).call('GET', '/tools/')).status).toBe(401)
  })
})

describe('POST /assistants/{aid}/tools/try', () => {
  const key = 'secret-key-4713'
  const asked: string[] = []
  const mcpCalls: string[] = []
  let isHeld = false
  const held = new Set<() => void>()
  let site: Awaited<ReturnType<typeof startHttpServer>>
  let mcp: Awaited<ReturnType<typeof startMcpServer>>
  beforeAll(async () => {
    site = await startHttpServer(async ({ url = '', headers }, response) => {
      asked.push(url)
      if (isHeld) await new Promise<void>((resolve) => held.add(resolve))
      response.setHeader('content-type', 'text/plain')
      response.end(url === '/long' ? 'x'.repeat(30_000) : `key ${String(headers['x-key'])}`)
    })
    mcp = await startMcpServer({
      register: (server) =>
        void server.registerTool('tides', { inputSchema: { harbour: z.string() } }, ({ harbour }) => {
          mcpCalls.push(harbour)
          if (harbour === 'nowhere') throw new Error('no such harbour')
          return { content: [{ type: 'text', text: `High water in ${harbour} at six.` }] }
        }),
    })
  })
  afterAll(async () => {
    await site.close()
    await mcp.close()
  })

  /** A user with an assistant that has both tools, and asks before tools are used. */
  async function owner() {
    const user = await insertUser(service)
    const { assistant_id: id } = await user.post('/assistants/', {
      name: 'Harbour guide',
      config: {
        'type==agent/interrupt_before_action': true,
        'type==agent/tools': [
          { type: 'mcp', config: { name: 'harbour', url: mcp.url } },
          {
            type: 'http_request',
            config: { allowed_hosts: [new URL(site.url).host, '10.0.0.1'], headers: { 'x-key': key } },
          },
        ],
      },
    })
    const path = `/assistants/${String(id)}/tools/try`
    const get = (url: string) => ({ name: 'http_request', args: { method: 'GET', url } })
    return { user, path, get, tryTool: (body: object) => user.post(path, body) }
  }

  it('calls the tool once and returns what the model would read, without a run', async () => {
    const { user, tryTool } = await owner()
    expect(await tryTool({ name: 'harbour_tides', args: { harbour: 'Kiel' } })).toEqual({
      outcome: 'answered',
      content: 'High water in Kiel at six.',
      is_cut: false,
      duration_ms: expect.any(Number),
    })
    expect(mcpCalls.splice(0)).toEqual(['Kiel'])
    expect(await service.collections.runs.countDocuments({ user_id: user.userId })).toBe(0)
  })

  it('distinguishes a failure of the tool from invalid arguments', async () => {
    const { tryTool } = await owner()
    const refused = await tryTool({ name: 'harbour_tides', args: { harbour: 7 } })
    expect(refused).toMatchObject({ outcome: 'refused', content: expect.stringContaining('/harbour must be string') })
    expect(await tryTool({ name: 'harbour_tides' })).toMatchObject({ outcome: 'refused' })
    expect(mcpCalls.splice(0)).toEqual([])
    const failed = await tryTool({ name: 'harbour_tides', args: { harbour: 'nowhere' } })
    expect(failed).toMatchObject({ outcome: 'failed', content: expect.stringContaining('no such harbour') })
    expect(mcpCalls.splice(0)).toEqual(['nowhere'])
  })

  it('has the limits of a run: hosts, private addresses, hidden keys, truncated answers', async () => {
    const { tryTool, get } = await owner()
    asked.length = 0
    const answer = await tryTool(get(`${site.url}/key`))
    expect(answer).toMatchObject({ outcome: 'answered', content: expect.stringContaining('key [hidden]') })
    const other = await tryTool(get(site.url.replace('127.0.0.1', 'localhost')))
    expect(other).toMatchObject({ outcome: 'failed', content: expect.stringContaining('may not reach the host') })
    const hidden = await tryTool(get('http://10.0.0.1/'))
    expect(hidden).toMatchObject({ outcome: 'failed', content: expect.stringContaining('is not allowed') })
    const long = await tryTool(get(`${site.url}/long`))
    expect(long.is_cut).toBe(true)
    expect(long.content.length).toBeLessThan(21_000)
    expect(asked).toEqual(['/key', '/long'])
    expect(JSON.stringify([answer, other, hidden, long])).not.toContain(key)
  })

  it('refuses unknown tools, deeply nested arguments and other users', async () => {
    const { user, path, tryTool } = await owner()
    expect((await user.call('POST', path, { name: 'harbour_moon' })).status).toBe(404)
    const deep = JSON.parse(`${'{"a":'.repeat(150)}1${'}'.repeat(150)}`)
    const tooDeep = await user.call('POST', path, { name: 'harbour_tides', args: deep })
    expect(tooDeep.status).toBe(422)
    expect(tooDeep.body.detail).toEqual([{ loc: ['body'], msg: 'nests deeper than 64 levels', type: 'too_deep' }])
    const large = await user.call('POST', path, { name: 'harbour_tides', args: { harbour: 'x'.repeat(1_100_000) } })
    expect(large.status).toBe(422)
    const stranger = await insertUser(service)
    expect((await stranger.call('POST', path, { name: 'harbour_tides', args: {} })).status).toBe(403)
    expect(await tryTool({ name: 'retrieval' }).catch(() => 'refused')).toBe('refused')
    expect(mcpCalls).toEqual([])
  })

  it('calls at most four tools of one user at once, without blocking other users', async () => {
    const [busy, bystander] = [await owner(), await owner()]
    isHeld = true
    const waiting = [1, 2, 3, 4].map(() => busy.tryTool(busy.get(`${site.url}/slow`)))
    await expect.poll(() => held.size).toBe(4)
    const fifth = await busy.user.call('POST', busy.path, busy.get(`${site.url}/fifth`))
    expect(fifth.status).toBe(429)
    expect(fifth.headers.get('retry-after')).toBe('5')
    isHeld = false
    expect(await bystander.tryTool(bystander.get(`${site.url}/quick`))).toMatchObject({ outcome: 'answered' })
    for (const answer of held) answer()
    for (const trial of await Promise.all(waiting)) expect(trial).toMatchObject({ outcome: 'answered' })
  })
})
