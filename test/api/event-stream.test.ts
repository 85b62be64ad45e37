import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createUnreadAnswers } from '../../api/plugins/unread-answers.ts'
import { createConnection } from '../../api/routes/v1/responses/connection.ts'
import { serveSocket } from '../../api/routes/v1/responses/serve-socket.ts'
import { openEventStream } from '../../api/sse/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { allEvents } from '../support/sse.ts'

it('an event stream escapes Unicode line ends, at which some clients would split its data', async () => {
  const text = 'a\u0085b\u2028c\u2029d\ve\u001cf'
  const app = Fastify()
  app.get('/', (_request, reply) => {
    const stream = openEventStream(reply)
    stream.send({ name: 'data', data: JSON.stringify({ text }) })
    stream.end()
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    const raw = await (await fetch(address)).text()
    expect(raw).not.toMatch(/[\u0085\u2028\u2029\v\f\u001c-\u001f]/)
    const [event] = await allEvents(new Response(raw))
    expect(JSON.parse(event?.data ?? '')).toEqual({ text })
  } finally {
    await app.close()
  }
})

it.each([
  { what: 'with the first events in one piece', events: ['one', 'two'] },
  { what: 'at once if there is no event yet', events: [] },
])('an event stream sends its headers $what', async ({ events }) => {
  const app = Fastify()
  const open: { end(): void }[] = []
  app.get('/', (_request, reply) => {
    const stream = openEventStream(reply)
    for (const data of events) stream.send({ data })
    open.push(stream)
  })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const client = connect(Number(port), '127.0.0.1')
  try {
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    const [first] = await once(client, 'data')
    expect(String(first)).toContain('content-type: text/event-stream')
    expect(String(first).match(/data: \w+/g) ?? []).toEqual(events.map((data) => `data: ${data}`))
  } finally {
    for (const stream of open) stream.end()
    client.destroy()
    await app.close()
  }
})

describe('a WebSocket', () => {
  const event = `data: ${JSON.stringify({ text: 'x'.repeat(1024 * 1024) })}\n\n`

  /** Clients that read nothing of an answer of 64 MB. */
  async function unreadSockets(count: number, options: { unreadMs: number; maxUnreadMb?: number }) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    const address = server.address()
    const unread = createUnreadAnswers(options)
    const served: { socket: WebSocket; finished: Promise<void>; client: WebSocket }[] = []
    for (let number = 0; number < count; number++) {
      const client = new WebSocket(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
      const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'open')])
      client.pause()
      const { finished } = serveSocket(socket, {
        connection: createConnection(async () => undefined),
        answer: async () => ({
          statusCode: 200,
          stream: () => Readable.from(Array.from({ length: 64 }, () => event)),
          raw: { res: { destroy: () => undefined } },
        }),
        closing: new AbortController().signal,
        unread,
        onError: (error) => expect(error).toBeUndefined(),
        times: { lifeMs: 3_600_000, idleMs: 3_600_000, pingMs: 3_600_000, unreadMs: options.unreadMs },
      })
      served.push({ socket, finished, client })
      client.send('{"type":"response.create"}')
      await eventually(
        'an answer that waits',
        () => socket.bufferedAmount > 512 * 1024 || socket.readyState !== socket.OPEN,
      )
    }
    onTestFinished(() => {
      for (const { client } of served) client.terminate()
      server.close()
    })
    return served
  }

  it('ends whose client reads nothing, though it is busy', async () => {
    const [one] = await unreadSockets(1, { unreadMs: 100 })
    await one?.finished
    expect(one?.socket.readyState).toBe(WebSocket.CLOSED)
  })

  it('counts with all other answers in what clients do not read: that which waits longest ends', async () => {
    const [first, second] = await unreadSockets(2, { unreadMs: 3_600_000, maxUnreadMb: 1.5 })
    await first?.finished
    expect([first?.socket.readyState, second?.socket.readyState]).toEqual([WebSocket.CLOSED, WebSocket.OPEN])
  })
})
