import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { openEventStream } from '../../api/sse/event-stream.ts'
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
