import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createOutbound } from '../../infra/outbound/create-outbound.ts'
import type { Tool } from '../../services/tool.ts'
import { keepingDigits } from '../../services/tools/mcp-client.ts'
import { createMcpTools } from '../../services/tools/mcp.ts'
import { startMcpServer, startRawMcpServer } from '../support/mcp-server.ts'
import { toolContext } from '../support/tool-context.ts'

const secret = 'Bearer mcp-secret-123'

describe('the tools of an MCP server', () => {
  let server: Awaited<ReturnType<typeof startMcpServer>>
  const outbound = createOutbound({ outboundAllow: ['127.0.0.1'] })
  const strict = createOutbound({ outboundAllow: [] })
  let time = 0
  let tools: ReturnType<typeof createMcpTools>
  const added: string[] = []
  const signal = new AbortController().signal
  const config = (url = server.url) => ({ name: 'notes', url, headers: { authorization: secret } })
  const run = (list: Tool[], name: string, args = {}) => {
    const tool = list.find((candidate) => candidate.name === name)
    if (tool === undefined) throw new Error(`no tool ${name}`)
    return tool.execute(args, toolContext(signal))
  }

  beforeAll(async () => {
    server = await startMcpServer({
      authorization: secret,
      register: (mcp) => {
        const text = (content: string) => ({ content: [{ type: 'text' as const, text: content }] })
        mcp.registerTool('add', { description: 'Adds a note', inputSchema: { text: z.string() } }, ({ text: note }) => {
          added.push(note)
          return text(`added ${note}`)
        })
        mcp.registerTool('list.all', { annotations: { readOnlyHint: true } }, () => text(added.join(',')))
        mcp.registerTool('fail', {}, () => ({ ...text('the disk is full'), isError: true }))
        mcp.registerTool('leak', {}, (extra) => text(`you sent ${JSON.stringify(extra.requestInfo?.headers)}`))
        mcp.registerTool('long', {}, () => text('x'.repeat(50_000)))
        mcp.registerTool('picture', {}, () => ({
          content: [
            { type: 'image', data: 'AAAA', mimeType: 'image/png' },
            { type: 'resource_link', uri: 'notes://2', name: 'Second', description: 'The second note' },
            { type: 'resource', resource: { uri: 'notes://a/b.pdf', mimeType: 'application/pdf', blob: 'BBBB' } },
          ],
        }))
        mcp.registerTool('slow', {}, () => new Promise(() => {}))
      },
    })
  })
  afterAll(async () => {
    await server.close()
    await outbound.close()
    await strict.close()
  })
  beforeEach(() => {
    time = 0
    tools = createMcpTools(outbound, () => time)
  })

  it('have names {name}_{tool}, schemas, and a mark whether they are safe to repeat', async () => {
    const { tools: list } = await tools.list(config(), signal)
    expect(list.map(({ name, safeToRepeat }) => [name, safeToRepeat])).toContainEqual(['notes_add', false])
    expect(list.map(({ name, safeToRepeat }) => [name, safeToRepeat])).toContainEqual(['notes_list_all', true])
    expect(list[0]).toMatchObject({
      type: 'mcp',
      description: 'Adds a note',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    })
  })

  it('are called in a session of their own, which is ended', async () => {
    const { tools: list } = await tools.list(config(), signal)
    const ended = server.seen.sessionsEnded
    expect(await run(list, 'notes_add', { text: 'milk' })).toBe('added milk')
    expect(await run(list, 'notes_list_all')).toBe('milk')
    expect(added).toEqual(['milk'])
    await expect.poll(() => server.seen.sessionsEnded).toBe(ended + 2)
  })

  it('report failures and unsupported content to the model', async () => {
    const { tools: list } = await tools.list(config(), signal)
    await expect(run(list, 'notes_fail')).rejects.toThrow('the disk is full')
    expect(await run(list, 'notes_picture')).toEqual({
      content: '[image/png]\n\nSecond: notes://2\nThe second note\n\n[application/pdf: notes://a/b.pdf]',
      files: [
        { name: '', bytes: Buffer.from('AAAA', 'base64') },
        { name: 'b.pdf', bytes: Buffer.from('BBBB', 'base64') },
      ],
    })
    expect(await run(list, 'notes_long')).toMatch(/only the first 20000 of 50000 characters/)
  })

  it('never return the configured keys', async () => {
    const { tools: list } = await tools.list(config(), signal)
    const answer = await run(list, 'notes_leak')
    expect(answer).toContain('[hidden]')
    expect(answer).not.toContain('mcp-secret')
  })

  it('stop when the call is aborted', async () => {
    const { tools: list } = await tools.list(config(), signal)
    const slow = list.find(({ name }) => name === 'notes_slow')
    await expect(slow?.execute({}, toolContext(AbortSignal.timeout(50)))).rejects.toThrow(/timeout|aborted/i)
  })

  it('are listed at most once a minute; the last list is used while the server is unreachable', async () => {
    await tools.list(config(), signal)
    const asked = server.seen.requests
    await tools.list(config(), signal)
    expect(server.seen.requests).toBe(asked)
    time = 61_000
    await tools.list(config(), signal)
    expect(server.seen.requests).toBeGreaterThan(asked)

    const leaving = await startMcpServer({
      register: (mcp) => void mcp.registerTool('one', {}, () => ({ content: [] })),
    })
    expect((await tools.list(config(leaving.url), signal)).tools).toHaveLength(1)
    await leaving.close()
    time = 200_000
    expect((await tools.list(config(leaving.url), signal)).tools).toHaveLength(1)
  })

  it.each([
    ['the wrong key', () => ({ ...config(), headers: { authorization: 'Bearer wrong-secret-9' } }), 'status 401'],
    ['nobody there', () => config('http://127.0.0.1:9/mcp'), 'could not be reached'],
    ['no URL', () => config('nothing'), 'not valid'],
  ])('cannot be listed with %s, and the reason contains no key', async (_what, made, reason) => {
    const error: unknown = await tools.list(made(), signal).catch((caught: unknown) => caught)
    expect(String(error)).toContain(reason)
    expect(String(error)).not.toContain('secret')
  })

  it('are left out when their schemas are too large; output schemas are not compiled', async () => {
    const tool = (name: string, inputSchema: object) => ({ name, inputSchema: { type: 'object', ...inputSchema } })
    let deep: object = {}
    for (let level = 0; level < 60; level++) deep = { not: deep }
    const listed = [
      tool('fine', { properties: { a: { type: 'string', pattern: '^a+$' } } }),
      tool('big', { properties: { a: { enum: Array.from({ length: 20_000 }, (_, index) => `value ${index}`) } } }),
      tool('deep', deep),
      { ...tool('output', {}), outputSchema: { type: 'object', properties: { a: { pattern: '(' } } } },
      ...Array.from({ length: 20 }, (_, index) => tool(`filler${index}`, { description: 'x'.repeat(60_000) })),
    ]
    const foreign = await startRawMcpServer(listed)
    const { tools: kept, warning } = await tools.list({ name: 'x', url: foreign.url }, signal)
    expect(kept.slice(0, 3).map(({ name }) => name)).toEqual(['x_fine', 'x_output', 'x_filler0'])
    expect(kept.every(({ isForeign }) => isForeign)).toBe(true)
    expect(kept.length).toBeLessThan(12)
    expect(warning).toContain(`${listed.length - kept.length} tools of the server are left out`)
    await foreign.close()
  })

  it.each(['application/json', 'text/event-stream'])('keep the digits of numbers in %s', async (type) => {
    const result =
      '{"content":[],"structuredContent":{"id":9007199254740993,"rate":0.12345678901234567890,"n":12,"s":"90071992547409931"}}'
    const foreign = await startRawMcpServer(
      [{ name: 'ask', inputSchema: { type: 'object' } }],
      async ({ id }, response) => {
        const message = `{"jsonrpc":"2.0","id":${id},"result":${result}}`
        response.writeHead(200, { 'content-type': type })
        response.end(
          type === 'application/json' ? message : `id: 12345678901234567890\nevent: message\ndata: ${message}\n\n`,
        )
      },
    )
    const { tools: list } = await tools.list({ name: 'x', url: foreign.url }, signal)
    expect(await run(list, 'x_ask')).toBe(
      '{"id":9007199254740993,"rate":0.12345678901234567890,"n":12,"s":"90071992547409931"}',
    )
    await foreign.close()
  })

  it('cost no time where a text has no end', async () => {
    const begun = performance.now()
    const line = `{"id": 9007199254740993, "s": "${'\\"'.repeat(500_000)}`
    expect(await keepingDigits(new Response(`${line}\\\n{"id": 9007199254740993}`)).text()).toMatch(
      /"\uE0009007199254740993"\}$/,
    )
    expect(performance.now() - begun).toBeLessThan(5000)
  })

  it('answer in a later stream, when the server ends the first and names its event', async () => {
    const asked: string[] = []
    let ask: number | undefined
    const eventId = '12345678901234567890'
    const head = { 'content-type': 'text/event-stream' }
    const foreign = await startRawMcpServer(
      [{ name: 'ask', inputSchema: { type: 'object' } }],
      async ({ id }, response) => {
        ask = id
        response.writeHead(200, head).end(`id: ${eventId}\nretry: 20\ndata: \n\n`)
      },
      (last, response) => {
        asked.push(last)
        const result = '{"content":[],"structuredContent":{"id":9007199254740993}}'
        const message = `{"jsonrpc":"2.0","id":${ask},"result":${result}}`
        // The first time the server is not ready.
        const event = asked.length === 1 ? `id: ${eventId}1\ndata: \n\n` : `data: ${message}\n\n`
        if (asked.length > 2) response.writeHead(404).end()
        else response.writeHead(200, head).end(event)
      },
    )
    const { tools: list } = await tools.list({ name: 'x', url: foreign.url }, signal)
    expect(await run(list, 'x_ask')).toBe('{"id":9007199254740993}')
    expect(asked).toEqual([eventId, `${eventId}1`])
    // A server that does not know the event any more is not waited for.
    await expect(run(list, 'x_ask')).rejects.toThrow('the MCP server answered with status 404')
    await foreign.close()
  })

  it('are not called at private addresses', async () => {
    await expect(createMcpTools(strict).list(config(), signal)).rejects.toThrow('is not allowed')
  })
})
