import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useSharedService } from '../support/shared-service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { insertUser } from '../support/users.ts'

interface Asked {
  content: { type: string; text: string }[]
  structuredContent?: { answer: string; thread_id: string; run_id: string; citations: unknown[] }
  isError?: boolean
}

describe('/mcp/{aid}', () => {
  const service = useSharedService()

  async function connect(assistantId: string, token: string, base = service.url) {
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp/${assistantId}`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
      reconnectionOptions: {
        initialReconnectionDelay: 10,
        maxReconnectionDelay: 100,
        reconnectionDelayGrowFactor: 1,
        maxRetries: 50,
      },
    })
    await client.connect(transport)
    onTestFinished(() => client.close())
    const ask = (args: object, options = {}) =>
      client.callTool({ name: 'ask', arguments: { ...args } }, undefined, options) as Promise<Asked>
    return { client, ask }
  }

  it('answers the owner, cites, goes on in a thread, and shows the texts of files', async () => {
    const owner = await knowledgeClient(await insertUser(service))
    const { body } = await owner.upload([
      { name: 'harbour.txt', content: 'The harbour opens at nine. Ships pay twelve marks.' },
    ])
    const { client, ask } = await connect(owner.assistantId, owner.token)
    expect(client.getServerVersion()).toMatchObject({ name: owner.assistantId, title: 'Librarian' })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['ask', 'search'])

    service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'harbour opens' } }] })
    service.model.reply({ text: ['It opens at nine ', '(harbour.txt).'] })
    const told: string[] = []
    const first = await ask(
      { question: 'When does the harbour open?' },
      { onprogress: ({ message }: { message?: string }) => void told.push(message ?? '') },
    )
    expect(first.content).toEqual([{ type: 'text', text: 'It opens at nine (harbour.txt).' }])
    expect(first.structuredContent).toMatchObject({
      answer: 'It opens at nine (harbour.txt).',
      citations: [{ text: '(harbour.txt)', file_id: body.files[0].id, file_name: 'harbour.txt' }],
    })
    expect(told.length).toBeGreaterThan(0)

    service.model.reply({ text: 'As I said.' })
    const { thread_id: threadId = '' } = first.structuredContent ?? {}
    const second = await ask({ question: 'Again?', thread_id: threadId })
    expect(second.structuredContent?.thread_id).toBe(threadId)
    const state = await owner.get(`/threads/${threadId}/state`)
    expect(state['values'].messages).toHaveLength(6)

    const found = (await client.callTool({ name: 'search', arguments: { query: 'harbour opens', limit: 1 } })) as any
    expect(found.structuredContent.passages).toMatchObject([{ file_name: 'harbour.txt' }])
    const { resources } = await client.listResources()
    expect(resources).toMatchObject([{ name: 'harbour.txt', uri: `assistant-file:${body.files[0].id}` }])
    const read = await client.readResource({ uri: resources[0]?.uri ?? '' })
    expect(read.contents).toMatchObject([{ text: 'The harbour opens at nine. Ships pay twelve marks.' }])
    await expect(client.readResource({ uri: 'assistant-file:none' })).rejects.toThrow('There is no such resource.')
  })

  it('answers public callers by their token, who see no files and none of the owner', async () => {
    const { id, token, owner } = await newPublicAssistant(service)
    const { client, ask } = await connect(id, token)
    service.model.reply({ text: 'Hello.' })
    const asked = await ask({ question: 'Hi' })
    expect(asked.structuredContent?.answer).toBe('Hello.')
    await expect(client.listResources()).rejects.toThrow('Method not found')
    const { thread_id: own } = await owner.post('/threads/', { name: 'Mine', assistant_id: id })
    expect(await ask({ question: 'Hi', thread_id: String(own) }).catch(String)).toContain('no such thread')
    service.model.reply({ status: 400, errorMessage: 'no' })
    expect(await ask({ question: 'Fail' })).toMatchObject({ isError: true })
  })

  it('says how to authorise, and refuses foreign origins, tokens and wrong arguments', async () => {
    const { id, token } = await newPublicAssistant(service)
    const other = await insertUser(service)
    const before = service.model.requests.length
    const post = (headers: Record<string, string>, body: object = { jsonrpc: '2.0', id: 1, method: 'ping' }) =>
      fetch(`${service.url}/mcp/${id}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify(body),
      })
    const anonymous = await post({})
    expect(anonymous.status).toBe(401)
    const metadata = /resource_metadata="([^"]+)"/.exec(anonymous.headers.get('www-authenticate') ?? '')?.[1] ?? ''
    const path = new URL(metadata).pathname
    const described = await fetch(`${service.url}${path}`)
    expect(JSON.parse(await described.text())).toMatchObject({
      resource: expect.stringMatching(new RegExp(`/mcp/${id}$`)),
      bearer_methods_supported: ['header'],
    })
    expect((await post({ authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await post({ authorization: `Bearer ${other.token}` })).status).toBe(403)
    const authorization = `Bearer ${token}`
    expect((await post({ authorization, origin: 'https://elsewhere.example' })).status).toBe(403)
    for (const accept of ['application/json', 'text/html', 'application/json, text/event-stream;q=0'])
      expect((await post({ authorization, accept })).status, accept).toBe(406)
    for (const accept of ['*/*', 'application/*, text/*', 'application/json;q=0.9, TEXT/EVENT-STREAM'])
      expect((await post({ authorization, accept })).status, accept).toBe(200)
    expect((await post({ authorization })).status).toBe(200)
    const notified = await post({ authorization }, { jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([notified.status, await notified.text(), notified.headers.get('content-type')]).toEqual([202, '', null])
    expect((await post({ authorization }, [{ jsonrpc: '2.0', id: 1, method: 'ping' }])).status).toBe(422)
    const { client } = await connect(id, token)
    await expect(client.callTool({ name: 'ask', arguments: { question: '' } })).rejects.toThrow('question')
    await expect(client.callTool({ name: 'other', arguments: {} })).rejects.toThrow('no such tool')
    expect(service.model.requests).toHaveLength(before)
  })

  it('knows the sessions that it has begun, and no other', async () => {
    const [one, other] = [await newPublicAssistant(service), await newPublicAssistant(service)]
    const send = (method: string, id: string, token: string, session?: string, message?: object) =>
      fetch(`${service.url}/mcp/${id}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
          ...(message === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(message === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', ...message }) }),
      })
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    // One that was lost begins anew.
    const begun = await send('POST', one.id, one.token, 'lost', { id: 1, method: 'initialize', params })
    expect(begun.status).toBe(200)
    const session = begun.headers.get('mcp-session-id') ?? ''
    const ping = { id: 2, method: 'ping' }
    expect((await send('POST', one.id, one.token, session, ping)).status).toBe(200)
    expect((await send('POST', other.id, other.token, session, ping)).status).toBe(404)
    for (const unknown of ['lost', session.slice(0, -1), `x${session}`, `${session}.x`]) {
      expect((await send('POST', one.id, one.token, unknown, ping)).status, unknown).toBe(404)
      const notification = { method: 'notifications/initialized' }
      expect((await send('POST', one.id, one.token, unknown, notification)).status, unknown).toBe(404)
      expect((await send('GET', one.id, one.token, unknown)).status, unknown).toBe(404)
    }
    expect((await send('GET', one.id, one.token, session)).status).toBe(405)
  })

  it('goes on with an answer after a cut connection, without asking the model again', async () => {
    const { id, token } = await newPublicAssistant(service)
    const proxy = await startTcpProxy(new URL(service.url).host)
    onTestFinished(() => proxy.close())
    const { ask } = await connect(id, token, `http://${proxy.address}`)
    const gate = Promise.withResolvers<void>()
    const before = service.model.requests.length
    service.model.reply({ text: ['First ', gate.promise, 'and last.'] })
    const begun = Promise.withResolvers<void>()
    const asked = ask({ question: 'Slow?' }, { onprogress: () => begun.resolve() })
    await begun.promise
    proxy.cut()
    gate.resolve()
    expect((await asked).structuredContent?.answer).toBe('First and last.')
    expect(service.model.requests).toHaveLength(before + 1)
  })

  it('answers every request, however odd, and starts no run for one that it refuses', async () => {
    const { id, token } = await newPublicAssistant(service)
    const send = async (message: object) => {
      const response = await fetch(`${service.url}/mcp/${id}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...message }),
        signal: AbortSignal.timeout(30_000),
      })
      const text = await response.text()
      const [, event] = /^data: (.+)$/m.exec(text) ?? []
      return { status: response.status, isStream: event !== undefined, answer: JSON.parse(event ?? text) }
    }
    const ask = { method: 'tools/call', params: { name: 'ask', arguments: { question: 'What?' } } }
    for (const message of [
      { ...ask, extra: true },
      { ...ask, result: {} },
      { ...ask, error: { code: 1, message: 'no' } },
      { ...ask, params: { ...ask.params, _meta: 'no object' } },
      { ...ask, params: { ...ask.params, _meta: { progressToken: { deep: true } } } },
      { ...ask, params: { ...ask.params, _meta: { progressToken: 1.5 } } },
      { method: 'ping', extra: 1 },
      { method: 'tools/list', params: { _meta: [] } },
    ])
      expect(await send(message), JSON.stringify(message)).toMatchObject({
        status: 200,
        isStream: false,
        answer: { jsonrpc: '2.0', id: 7, error: { code: -32600 } },
      })
    for (const message of [
      { method: '' },
      { method: 'notifications/cancelled', params: { requestId: 7 } },
      { method: 'tools/list', params: { cursor: 5 } },
      { method: 'initialize' },
      { method: 'tools/call' },
      { ...ask, params: { ...ask.params, task: {} } },
      { ...ask, params: { ...ask.params, task: 'later' } },
      { ...ask, params: { name: 'ask', arguments: ['What?'] } },
    ])
      expect(await send(message), JSON.stringify(message)).toMatchObject({
        status: 200,
        answer: { id: 7, error: { code: expect.any(Number) } },
      })
    expect(await send({ method: 'ping' })).toMatchObject({ answer: { id: 7, result: {} } })
    expect(await service.collections.runs.countDocuments({ assistant_id: id })).toBe(0)
  })

  it('cancels the run of a request that is cancelled', async () => {
    const { id, token } = await newPublicAssistant(service)
    const { ask } = await connect(id, token)
    const gate = Promise.withResolvers<void>()
    const { arrived, ended } = service.model.reply({ text: ['Begun ', gate.promise] })
    const stop = new AbortController()
    const asked = ask({ question: 'Slow?' }, { signal: stop.signal })
    await arrived
    stop.abort('enough')
    await expect(asked).rejects.toThrow('enough')
    expect(await ended).toBe('dropped')
    gate.resolve()
    await eventually('the end of the run', async () => {
      const run = await service.collections.runs.findOne({ assistant_id: id }).lean()
      return run?.status === 'cancelled'
    })
  })
})
