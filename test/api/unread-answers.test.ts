import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { conversation, readRun } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { openConnection } from '../support/raw-connection.ts'
import type { RunningService } from '../support/service.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const megabyte = 1024 * 1024
const ask = (path: string, ...lines: string[]) =>
  `${[`GET ${path} HTTP/1.1`, 'host: x', ...lines].join('\r\n')}\r\n\r\n`

describe('clients that send further requests before they have read an answer', () => {
  const service = useSharedService()

  it('are disconnected with more than 16 unanswered ones, and others are answered meanwhile', async () => {
    const requests = [
      ...['/openapi.json', '/nowhere', '/%zz'].map((path) => ask(path)),
      ...['100-continue', 'something else'].map((expected) => ask('/nowhere', `expect: ${expected}`)),
    ]
    for (const request of requests) {
      const { write, socket, connection } = await openUnread(service)
      // In one piece of 64 KB, which Node hands over at once.
      write(request.repeat(50_000 / request.length))
      await eventually('the end of the connection', () => connection.destroyed)
      expect(connection.bytesWritten, request).toBeLessThan(2 * megabyte)
      expect((await apiClient(service.url).call('GET', '/ok')).status).toBe(200)
      socket.destroy()
    }
  })

  it('are answered in order, and nothing is begun before the answer ahead is taken', async () => {
    const owner = await ownerOfLargeThread(service)
    const client = await openUnread(service)
    const body = JSON.stringify({ name: 'Second' })
    const make = [
      'POST /projects/ HTTP/1.1',
      'host: x',
      `authorization: Bearer ${owner.user.token}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n')
    const projects = async () => (await owner.user.get('/projects/')).map(({ name }: { name: string }) => name)
    client.write(owner.ask + make + ask('/nowhere', 'connection: close'))
    await eventually('an answer that waits', () => client.connection.writableLength > 0)
    expect((await apiClient(service.url).call('GET', '/ok')).status).toBe(200)
    expect(await projects()).not.toContain('Second')
    client.socket.resume()
    const statuses = [...(await client.untilClosed()).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    expect(statuses).toEqual(['200', '200', '404'])
    expect(await projects()).toContain('Second')
  })
})

describe('a client that waits for leave to send its body', () => {
  const service = useSharedService()

  it('gets it when it is its turn, and an answer', async () => {
    const { token } = await insertUser(service)
    const body = JSON.stringify({ name: 'Second' })
    const head = [
      'POST /projects/ HTTP/1.1',
      'host: x',
      `authorization: Bearer ${token}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    const client = await openConnection(service)
    client.write(`${ask('/nowhere')}${[...head, 'expect: 100-continue', 'connection: close'].join('\r\n')}\r\n\r\n`)
    await eventually('the leave', () => client.received().includes('HTTP/1.1 100 Continue'))
    expect(client.received().indexOf('404')).toBeLessThan(client.received().indexOf('100 Continue'))
    client.write(body)
    expect(await client.untilClosed()).toContain('"Second"')
  })
})

describe('answers that clients do not read', () => {
  const limitMb = 20
  const service = useModelService({ settings: { maxUnreadMb: limitMb, unreadSeconds: 600 } })

  it('hold no more memory than the limit in all', async () => {
    const owner = await ownerOfLargeThread(service)
    const clients: Awaited<ReturnType<typeof openUnread>>[] = []
    for (let i = 0; i < 4; i++) {
      const client = await openUnread(service)
      clients.push(client)
      client.write(owner.ask)
      await eventually('an answer that waits', () => client.connection.bytesWritten > owner.answerBytes)
      const waiting = clients
        .filter(({ connection }) => !connection.destroyed)
        .reduce((sum, { connection }) => sum + connection.writableLength, 0)
      expect(waiting).toBeLessThanOrEqual(limitMb * megabyte)
      expect((await owner.user.call('GET', `/threads/${owner.threadId}`)).status).toBe(200)
    }
    const ends = clients.map(({ connection }) => connection.destroyed)
    expect(ends.indexOf(false)).toBe(2)
    expect(ends.slice(0, ends.indexOf(false))).not.toContain(false)
    // A client that reads gets all of an answer of any size.
    expect((await owner.user.get(`/threads/${owner.threadId}/state`)).values.messages).toHaveLength(4)
    for (const { socket } of clients) socket.destroy()
  })
})

describe('clients that stop reading', () => {
  const service = useModelService({ settings: { unreadSeconds: 5 } })

  it('are disconnected after a while, and a stream without news is not', async () => {
    const gate = Promise.withResolvers<void>()
    service.model.reply({ after: gate.promise, text: 'Late' })
    const { client, payload } = await conversation(service)
    const stream = await client.fetch('POST', '/runs/stream', payload('Hi'))
    const owner = await ownerOfLargeThread(service)
    const stalled = await openUnread(service)
    stalled.write(owner.ask)
    await eventually('an answer that waits', () => stalled.connection.bytesWritten > owner.answerBytes)
    await eventually('the end of the connection', () => stalled.connection.destroyed)
    gate.resolve()
    expect((await readRun(stream)).messages.at(-1).data.content).toBe('Late')
    // The connection of an answer that was read stays usable.
    const reader = await openConnection(service)
    reader.write(ask('/openapi.json'))
    await eventually('the answer', () => reader.received().includes('"paths"'))
    reader.write(ask('/nowhere', 'connection: close'))
    expect(await reader.untilClosed()).toContain('HTTP/1.1 404')
    stalled.socket.destroy()
  })
})

/** A client that reads nothing at first, and the server's side of its connection. */
async function openUnread(service: RunningService) {
  const connections: Socket[] = []
  const note = (socket: Socket) => connections.push(socket)
  service.api.app.server.on('connection', note)
  const client = await openConnection(service)
  client.socket.pause()
  const connection = await eventually('the connection', () =>
    connections.find(({ remotePort }) => remotePort === client.socket.localPort),
  )
  service.api.app.server.off('connection', note)
  return { ...client, connection }
}

/** A user with a thread whose state is larger than what the system holds of an unread answer. */
async function ownerOfLargeThread(service: RunningService) {
  const user = await insertUser(service)
  const { thread_id: threadId } = await user.post('/threads/', {})
  const messages = [{ type: 'human', content: 'x'.repeat(1.9 * megabyte) }]
  for (let i = 0; i < 4; i++) await user.post(`/threads/${threadId}/state`, { values: { messages } })
  return {
    user,
    threadId: String(threadId),
    answerBytes: 4 * 1.9 * megabyte,
    ask: ask(`/threads/${threadId}/state`, `authorization: Bearer ${user.token}`),
  }
}
