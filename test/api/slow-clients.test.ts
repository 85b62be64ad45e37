import { describe, expect, it } from 'vitest'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { openConnection } from '../support/raw-connection.ts'
import { type RunningService, startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'

const head = (lines: string[]) => `${[...lines, 'host: x', 'content-type: application/json'].join('\r\n')}\r\n\r\n`

describe('slow clients', () => {
  const service = useModelService({ settings: { requestTimeoutSeconds: 1 } })

  it('are disconnected when the head of a request does not arrive', async () => {
    for (const text of ['', 'GET /ok HTTP/1.1\r\nhost: x\r\nx-drip: ']) {
      const client = await openConnection(service)
      client.write(text)
      const drip = setInterval(() => text && client.write('x'), 100)
      const answer = await client.untilClosed()
      clearInterval(drip)
      expect(answer).toContain('HTTP/1.1 408')
      expect(answer).toContain('{"detail":"The head of the request took too long to arrive."}')
    }
  })

  it.each([
    ['an account route', 'POST /auth/login', 408],
    ['a public route', 'POST /public/runs/stream', 408],
    ['a user', 'POST /runs/', 408],
    ['nobody', 'POST /nowhere', 404],
    ['a route that reads no body', 'GET /ok', 200],
    ['a caller without a token', 'POST /threads/', 401],
  ])('are disconnected when the body of a request to %s arrives too slowly', async (who, start, status) => {
    const user = await insertUser(service)
    const client = await openConnection(service)
    const token = who === 'a user' ? [`authorization: Bearer ${user.token}`] : []
    client.write(head([`${start} HTTP/1.1`, 'content-length: 1000', ...token]) + '{')
    const drip = setInterval(() => client.write(' '), 100)
    const answer = await client.untilClosed()
    clearInterval(drip)
    expect(answer).toContain(`HTTP/1.1 ${status}`)
    const saysWhy = answer.includes('"detail":"The body of the request took too long to arrive."')
    expect(saysWhy).toBe(status === 408)
  })
})

describe('a client that uploads slowly', () => {
  const service = useModelService({
    env: { EMBEDDING_DIMENSIONS: '64' },
    settings: { requestTimeoutSeconds: 1, uploadIdleSeconds: 5 },
  })

  it('can take its time while bytes arrive', async () => {
    const user = await insertUser(service)
    const { assistant_id: id } = await user.post('/assistants/', { name: 'reader' })
    const client = await openConnection(service)
    const auth = `authorization: Bearer ${user.token}`
    const part = '--b\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    client.write(
      head([`POST /assistants/${id}/files HTTP/1.1`, 'transfer-encoding: chunked', auth]).replace(
        'application/json',
        'multipart/form-data; boundary=b',
      ),
    )
    const chunk = (text: string) => client.write(`${text.length.toString(16)}\r\n${text}\r\n`)
    chunk(part)
    const begun = Date.now()
    await new Promise<void>((resolve) => {
      const drip = setInterval(() => {
        chunk('word ')
        // Three times as long as any other body may take.
        if (Date.now() - begun < 3000) return
        clearInterval(drip)
        resolve()
      }, 100)
    })
    expect(client.received()).toBe('')
    expect(client.socket.destroyed).toBe(false)
    // From here on nothing more comes.
    const answer = await client.untilClosed()
    expect(answer).toContain('HTTP/1.1 408')
    await eventually(
      'the removal of what had arrived',
      async () => (await service.collections.files.countDocuments({ assistant_id: id })) === 0,
    )
    expect((await user.get(`/assistants/${id}/files`)).files).toEqual([])
  })
})

describe('connections', () => {
  const service = useStarted(() => startService({ worker: false, env: { MAX_CONNECTIONS: '20' } }))

  it('are limited by address, and released when they close', async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => openConnection(service)))
    const fifth = await openConnection(service)
    expect(await fifth.untilClosed()).toBe('')
    const [first] = clients
    first?.socket.destroy()
    await eventually('a place', async () => {
      const next = await openConnection(service)
      next.write(head(['GET /nowhere HTTP/1.1', 'connection: close']))
      return (await next.untilClosed()).includes('HTTP/1.1 404')
    })
    for (const { socket } of clients) socket.destroy()
  })

  it('are limited in total', async () => {
    const small = await startService({ worker: false, env: { MAX_CONNECTIONS: '3', TRUST_PROXY: '127.0.0.1' } })
    const clients = await Promise.all(Array.from({ length: 3 }, () => openConnection(small)))
    const fourth = await openConnection(small)
    expect(await fourth.untilClosed()).toBe('')
    for (const { socket } of clients) socket.destroy()
    await small.close()
  })
})

describe('open streams', () => {
  const service = useModelService({
    respond: () => ({ text: 'Hi' }),
    env: {
      MAX_STREAMS: '6',
      TRUST_PROXY: '127.0.0.1',
    },
    settings: { maxStreamsPerUser: 2, maxStreamsPerAssistant: 2, maxStreamsPerClient: 3 },
  })

  it('are limited by user, and released when they end', async () => {
    const gate = Promise.withResolvers<void>()
    const [one, other] = [await runner(service), await runner(service)]
    for (let i = 0; i < 2; i++) service.model.reply({ after: gate.promise, text: 'late' })
    const asked = service.model.requests.length
    const streams = [await one.stream(), await one.stream()]
    // Otherwise the bystander could be given an answer that waits.
    await eventually('the questions', () => service.model.requests.length >= asked + 2)
    const runs = await service.collections.runs.countDocuments()
    const refused = await one.stream()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    expect(await refused.json()).toEqual({ detail: 'Too many streams are open; at most 2 may be.' })
    // Nothing was started for it.
    expect(await service.collections.runs.countDocuments()).toBe(runs)
    const bystander = await other.stream()
    expect(bystander.status).toBe(200)
    await bystander.text()
    gate.resolve()
    for (const stream of streams) await stream.text()
    await eventually('a place', async () => {
      const again = await one.stream()
      await again.text()
      return again.status === 200
    })
  })

  it('of public callers are limited by assistant, by client, and in total', async () => {
    const gate = Promise.withResolvers<void>()
    const assistants = await Promise.all(Array.from({ length: 4 }, () => newPublicAssistant(service)))
    const ask = (index: number, client: string) =>
      fetch(`${service.url}/public/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${assistants[index]?.token}`,
          'content-type': 'application/json',
          'x-forwarded-for': client,
        },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true }),
      })
    for (let i = 0; i < 6; i++) service.model.reply({ after: gate.promise, text: 'late' })
    const streams = [await ask(0, '192.0.2.1'), await ask(0, '192.0.2.2')]
    const byAssistant = await ask(0, '192.0.2.3')
    expect(byAssistant.status).toBe(429)
    expect(await byAssistant.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'too_many_requests' } })
    // Two addresses of one IPv6 network are one client.
    streams.push(await ask(1, '2001:db8::1'), await ask(1, '2001:db8::2'), await ask(2, '2001:db8::3'))
    expect((await ask(3, '2001:db8::4')).status).toBe(429)
    streams.push(await ask(3, '192.0.2.9'))
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    const inAll = await ask(3, '192.0.2.10')
    expect([inAll.status, inAll.headers.get('retry-after')]).toEqual([503, '5'])
    expect((await apiClient(service.url).call('GET', '/ok')).status).toBe(200)
    gate.resolve()
    for (const stream of streams) await stream.text()
  })
})

/** A user who streams runs, each on a thread of its own. */
async function runner(service: RunningService) {
  const user = await insertUser(service)
  const { assistant_id: assistantId } = await user.post('/assistants/', { name: 'a' })
  return {
    async stream() {
      const { thread_id: threadId } = await user.post('/threads/', {})
      return user.fetch('POST', '/runs/stream', {
        thread_id: threadId,
        assistant_id: assistantId,
        input: [{ type: 'human', content: 'Hi' }],
      })
    },
  }
}
