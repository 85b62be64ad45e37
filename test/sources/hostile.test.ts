import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startHttpServer } from '../support/http-server.ts'
import { useSharedService } from '../support/shared-service.ts'
import { page, startSite, webReader } from './support.ts'

describe('a hostile site', () => {
  const service = useSharedService()

  it('is bounded in pages, links, bytes and addresses, and harms no bystander', async () => {
    const text = 'Something to read on this page, which is long enough. '.repeat(10)
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'))
    let months = 0
    const hostile = await startHttpServer((request, response) => {
      const path = request.url ?? '/'
      const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
        response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body)
      if (path === '/robots.txt') return void response.writeHead(404).end()
      if (path.startsWith('/calendar/')) {
        months += 1
        const month = Number(path.slice(10))
        return void send(
          page(`Month ${month}`, `${month} ${text}`, [`/calendar/${month + 1}`, `/calendar/${month + 1000}`]),
        )
      }
      if (path === '/bomb') return void send(bomb, { 'content-encoding': 'gzip' })
      if (path === '/links')
        return void send(
          page(
            'Links',
            text,
            Array.from({ length: 100_000 }, (_, index) => `/l/${index}`),
          ),
        )
      if (path === '/deep') return void send(`<html><body>${'<div>'.repeat(200_000)}${text}`)
      if (path === '/loop') return void response.writeHead(302, { location: '/loop' }).end()
      if (path === '/inner') return void response.writeHead(302, { location: `http://10.0.0.1:${'80'}/` }).end()
      if (path.startsWith('/list'))
        return void send(page(path, `${path} ${text}`, ['/list?a=1&b=2', `/list?sort=${Math.random()}`]))
      if (path.startsWith('/l/')) return void send(page(path, `${path} ${text}`))
      send(
        page('Start', text, [
          '/calendar/1',
          '/bomb',
          '/links',
          '/deep',
          '/loop',
          '/inner',
          '/list',
          '/a/b/a/b/a/b/a/b',
        ]),
      )
    })
    const good = await startSite({ '/': page('Good', `The lighthouse is lit at dusk. ${text}`) })
    onTestFinished(async () => {
      await hostile.close()
      await good.close()
    })
    const victim = await webReader(service)
    const { body } = await victim.add({ type: 'site', url: `${hostile.url}/`, max_pages: 25, max_depth: 20 })
    const bystander = await webReader(service)
    const own = (await bystander.add({ type: 'page', url: `${good.url}/` })).body
    expect(await bystander.ended(own.source_id)).toMatchObject({ status: 'ready', pages: 1 })
    expect((await bystander.search('when is the lighthouse lit'))[0].text).toContain('dusk')

    const source = await victim.ended(body.source_id, 120_000)
    expect(source).toMatchObject({ status: 'ready', pages: 25 })
    expect(source.ignored).toBeGreaterThan(1000)
    expect(months).toBeLessThan(60)
    const known = await service.collections.sourcePages.countDocuments({ source_id: body.source_id })
    expect(known).toBeLessThanOrEqual(3 * 25 + 500 + 2)
    const reasonOf = async (path: string) =>
      (await victim.pages(body.source_id)).find(({ url }) => url === hostile.url + path)?.reason
    expect(await reasonOf('/bomb')).toBe('It is larger than 5 MB.')
    expect(await reasonOf('/loop')).toBe('It redirects too often.')
    expect(await reasonOf('/inner')).toContain('It redirects to another site: http://10.0.0.1/')
    expect(await reasonOf('/a/b/a/b/a/b/a/b')).toContain('repeats itself')
    expect(await reasonOf('/deep')).toBe('This page nests its elements too deeply to be read.')
  }, 180_000)

  it('that redirects a page to an address inside is refused there', async () => {
    const site = await startSite({ '/': { status: 302, headers: { location: 'http://169.254.169.254/latest' } } })
    onTestFinished(() => site.close())
    const reader = await webReader(service)
    const { body } = await reader.add({ type: 'page', url: `${site.url}/` })
    const source = await reader.ended(body.source_id, 60_000)
    expect(source.status).toBe('failed')
    expect(source.error).toMatch(/address|robots\.txt/)
  })
})
