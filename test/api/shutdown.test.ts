import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { proxyIdleMs } from '../../api/sse/event-stream.ts'
import { conversation } from '../runs/support.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { readEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

describe('an API process that stops behind a proxy', () => {
  let service: ModelService | undefined
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  afterEach(async () => {
    agent.destroy()
    await service?.close()
    service = undefined
  })

  /** A request on the one connection of the agent. */
  async function ask(url: string, token: string, method: string, body?: object): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = request(`${url}/assistants/`, { agent, method, headers })
    sent.end(body && JSON.stringify(body))
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return answer
  }

  it('refuses connections at once, answers on those that are open, and lets streams end', async () => {
    service = await startModelService({ env: { TRUST_PROXY: '127.0.0.1', SHUTDOWN_GRACE_SECONDS: '60' } })
    const { url } = service
    const user = await insertUser(service)
    const { client, payload } = await conversation(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: ['Half', gate.promise, ' and half'] })
    const events = readEvents(await client.fetch('POST', '/runs/stream', payload('Go')))
    await events.next()
    const before = await ask(url, user.token, 'POST', { name: 'Before' })
    expect([before.statusCode, before.headers.connection]).toEqual([200, 'keep-alive'])
    await text(before)

    const closed = service.api.app.close()
    await expect.poll(() => connects(url)).toBe(false)
    const after = await ask(url, user.token, 'POST', { name: 'After' })
    expect([after.statusCode, after.headers.connection]).toEqual([200, 'close'])
    expect(JSON.parse(await text(after))).toMatchObject({ name: 'After' })
    gate.resolve()
    expect((await Array.fromAsync(events)).at(-1)?.event).toBe('end')
    await closed
  })

  it('keeps idle connections longer than the proxy of docker-compose.yml', async () => {
    const file = path.join(import.meta.dirname, '../../deploy/compose/Caddyfile')
    const [, seconds] = /^\s*keepalive (\d+)s$/m.exec(await readFile(file, 'utf8')) ?? []
    expect(Number(seconds) * 1000).toBeLessThan(proxyIdleMs)
  })
})

async function connects(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy())
}
