import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { BenchContext } from '../environment.ts'
import { table } from '../statistics.ts'
import { newKnowledge } from './client.ts'

const pages = 300
const pollEveryMs = 100

interface Source {
  source_id: string
  status: 'queued' | 'crawling' | 'ready' | 'failed'
  pages: number
}

/** A site on this machine that answers at once, without pauses: read, embedded and found, then read again unchanged. */
export async function benchCrawl(context: BenchContext): Promise<void> {
  const site = await startSite()
  try {
    const { assistantId, call } = await newKnowledge(context)
    const path = `/assistants/${assistantId}/sources`
    const json = { 'content-type': 'application/json' }
    const body = JSON.stringify({ type: 'site', url: `${site.url}/`, max_pages: pages })
    const begun = performance.now()
    const { source_id: id } = await call<Source>('POST', path, body, json)
    const ended = async () => {
      for (;;) {
        const source = await call<Source>('GET', `${path}/${id}`)
        if (source.status === 'ready' && source.pages === pages) return
        if (source.status === 'failed' || source.status === 'ready') throw new Error(JSON.stringify(source))
        await pause(pollEveryMs)
      }
    }
    await ended()
    const firstSeconds = (performance.now() - begun) / 1000
    const again = performance.now()
    await call<Source>('POST', `${path}/${id}/refresh`, '{}', json)
    await ended()
    const againSeconds = (performance.now() - again) / 1000
    context.log(`\n### A site of ${pages} pages, from its address to the last page found\n`)
    context.log(
      table(
        ['', 'pages crawled a second'],
        [
          ['first crawl', (pages / firstSeconds).toFixed(1)],
          ['again, unchanged (ETag)', (pages / againSeconds).toFixed(1)],
        ],
      ),
    )
  } finally {
    await site.close()
  }
}

async function startSite() {
  const text = (index: number) =>
    `Page ${index} tells of the number ${index * 7919}, and of what is near to it. It has some sentences more. `.repeat(
      12,
    )
  const links = Array.from({ length: pages - 1 }, (_, index) => `<a href="/p/${index + 1}">${index + 1}</a>`).join(' ')
  const server = createServer((request, response) => {
    const index = Number(request.url?.slice(3) ?? '0')
    if (request.url === '/robots.txt' || Number.isNaN(index)) return void response.writeHead(404).end()
    if (request.headers['if-none-match'] === '"1"') return void response.writeHead(304).end()
    response.writeHead(200, { 'content-type': 'text/html', etag: '"1"' })
    response.end(
      `<html><head><title>Page ${index}</title></head><body><main><h1>Page ${index}</h1><p>${text(index)}</p>${index === 0 ? links : ''}</main></body></html>`,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
