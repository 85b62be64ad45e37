import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readComposeFile, versionOfImage } from '../../faults/production-drill/compose-file.ts'
import { localCaddyfile, prepareCaddy, startCaddy } from '../../local/services/caddy.ts'
import { freePort } from '../../local/services/ports.ts'

const repository = path.join(import.meta.dirname, '../..')

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** The proxy of docker-compose.yml, with its Caddyfile, in front of two servers in place of API processes. */
describe('the proxy', () => {
  let folder: string
  let url: string
  let port: number
  let proxy: Awaited<ReturnType<typeof startCaddy>>
  let apis: Server[]
  let handle: Handler

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'proxy-'))
    handle = (_request, response) => response.end('answered')
    apis = [createServer((...args) => handle(...args)), createServer((...args) => handle(...args))]
    const ports: number[] = []
    for (const api of apis) {
      const chosen = await freePort()
      ports.push(chosen)
      await once(api.listen(chosen, '127.0.0.1'), 'listening')
    }
    port = await freePort()
    url = `http://127.0.0.1:${port}`
    const caddyfile = path.join(folder, 'Caddyfile')
    await writeFile(caddyfile, await caddyfileFor(ports))
    const command = await prepareCaddy(versionOfImage(await readComposeFile(), 'proxy'), console.log)
    proxy = await startCaddy({ command, caddyfile, folder, port })
  }, 600_000)
  afterEach(async () => {
    await proxy?.stop()
    for (const api of apis) stop(api)
    await rm(folder, { recursive: true, force: true })
  })

  it('passes on each event of a stream before the next is there', async () => {
    const streams: ServerResponse[] = []
    handle = (_request, response) => {
      streams.push(response)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n')
    }
    const answer = await fetch(url)
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe('data: first\n\n')
    streams[0]?.end('data: second\n\n')
    expect((await reader?.read())?.value).toBe('data: second\n\n')
    expect((await reader?.read())?.done).toBe(true)
  })

  it('gives each request to one API process, once, when the other is gone', async () => {
    const received: string[] = []
    handle = async (request, response) => {
      received.push(await text(request))
      response.end('answered')
    }
    for (const api of apis.slice(0, 1)) stop(api)
    const sent = Array.from({ length: 10 }, (_, index) => String(index).repeat(100_000))
    const post = async (body: string) => (await fetch(url, { method: 'POST', body })).status
    expect(await Promise.all(sent.map(post))).toEqual(sent.map(() => 200))
    expect(received.toSorted()).toEqual(sent)
  })

  it('answers 502 when an API process dies with a message, and does not send the message to another', async () => {
    let received = 0
    handle = (request) => {
      received++
      request.socket.destroy()
    }
    // It may have been stored: only the client knows whether it may be repeated.
    expect((await fetch(url, { method: 'POST', body: 'message' })).status).toBe(502)
    expect(received).toBe(1)
  })

  it('gives an API process no second request of a connection before the first is answered', async () => {
    const waiting: ServerResponse[] = []
    const { promise: arrived, resolve } = Promise.withResolvers<void>()
    const received: string[] = []
    handle = (request, response) => {
      received.push(request.url ?? '')
      waiting.push(response)
      if (waiting.length === 1) resolve()
      else response.end('second')
    }
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    await arrived
    // A request of another connection is answered meanwhile, and the second of this one has not come.
    const other = fetch(`${url}/other`)
    expect(await (await other).text()).toBe('second')
    expect(received).toEqual(['/1', '/other'])
    waiting[0]?.end('first')
    await once(socket.resume(), 'close')
    expect(received).toEqual(['/1', '/other', '/2'])
  })
})

function stop(server: Server): void {
  server.close()
  server.closeAllConnections()
}

async function caddyfileFor(ports: number[]): Promise<string> {
  return localCaddyfile(
    await readFile(path.join(repository, 'deploy/compose/Caddyfile'), 'utf8'),
    ports.map((api) => `127.0.0.1:${api}`),
  )
}
