import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { crawlContract, sourceDeletionContract } from '../../domain/contracts/crawl.ts'
import { crawlPages } from '../../services/sources/crawl-pages.ts'
import { beginCrawl } from '../../services/sources/crawl.ts'
import { archiveOf, importInto, linesIn } from '../support/archives.ts'
import { eventually } from '../support/eventually.ts'
import { historyText, recordHistory } from '../support/histories.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { page, startSite, webReader } from './support.ts'

async function siteOf(pages: Parameters<typeof startSite>[0]) {
  const site = await startSite(pages)
  onTestFinished(() => site.close())
  return site
}

describe('a source of the web', () => {
  const service = useSharedService()

  it('of type page is read without its navigation, found, and cited with address and heading', async () => {
    const site = await siteOf({
      '/guide': `<!doctype html><html><head><title>Harbour guide</title></head><body><nav><a href="/x">Menu of the site</a></nav>
        <article><h1>Harbour guide</h1><h2>Fees</h2><p>${'A berth for one night costs 23 marks, and is paid at the office. '.repeat(6)}</p>
        <table><tr><th>Boat</th><th>Fee</th></tr><tr><td>Dinghy</td><td>7 marks</td></tr></table>
        <pre><code>pay --berth 4</code></pre></article><footer>Imprint</footer></body></html>`,
    })
    const reader = await webReader(service)
    const { status, body } = await reader.add({ type: 'page', url: `${site.url}/guide#fees` })
    expect(status).toBe(200)
    expect(body).toMatchObject({ type: 'page', url: `${site.url}/guide`, max_pages: 1 })
    const source = await reader.ended(body.source_id)
    expect(source).toMatchObject({ status: 'ready', pages: 1, error: null })
    const [passage] = await reader.search('what does a berth cost')
    expect(passage).toMatchObject({
      url: `${site.url}/guide`,
      title: 'Harbour guide',
      file_name: `127.0.0.1:${site.port}/guide`,
    })
    expect(passage.heading).toContain('Fees')
    expect(passage.text).toContain('23 marks')
    expect(passage.text).toContain('Boat: Dinghy; Fee: 7 marks')
    expect(passage.text).toContain('pay --berth 4')
    expect(passage.text).not.toMatch(/Menu of the site|Imprint/)
    expect([...site.agents]).toEqual([expect.stringMatching(/^AssistantPlatformBot\/1\.0 \(\+http/)])
  })

  it('of type site takes another page in place of one whose text cannot be read', async () => {
    const site = await siteOf({
      '/': page('Start', words('harbour'), ['/deep', '/next', '/last']),
      '/deep': `<html><body>${'<div>'.repeat(10_000)}${words('deep')}`,
      '/next': page('Next', words('crane')),
      '/last': page('Last', words('tide')),
    })
    const reader = await webReader(service)
    const { body } = await reader.add({ type: 'site', url: `${site.url}/`, max_pages: 2 })
    const source = await reader.ended(body.source_id, 120_000)
    expect(source).toMatchObject({ status: 'ready', pages: 2, left_out: 2 })
    const reasons = (await reader.pages(body.source_id)).map(({ url, status, reason }) => [
      url.slice(site.url.length),
      status,
      reason,
    ])
    expect(reasons).toEqual([
      ['/', 'ready', null],
      ['/deep', 'left_out', 'This page nests its elements too deeply to be read.'],
      ['/next', 'ready', null],
      ['/last', 'left_out', 'The source has its 2 pages (`max_pages`).'],
    ])
  })

  it('of type site follows links as robots.txt, globs and the pages say, and tells what it left out', async () => {
    const site = await siteOf({
      '/robots.txt': { type: 'text/plain', body: 'User-agent: AssistantPlatformBot\nDisallow: /docs/private' },
      '/docs/': page('Start', words('harbour'), [
        '/docs/a',
        '/docs/a?utm_source=mail#top',
        '/docs/private/x',
        '/docs/skip/me',
        '/docs/same',
        '/docs/hidden',
        '/docs/moved',
        '/docs/away',
        '/docs/inner',
        '/docs/missing',
        '/docs/table.csv',
        '/docs/picture.png',
        '/blog/',
        'https://elsewhere.example/',
      ]),
      '/docs/a': page('Tides', words('tide'), ['/docs/deep']),
      '/docs/deep': page('Deep', words('anchor')),
      '/docs/same': page('Tides', words('tide'), ['/docs/deep']),
      '/docs/hidden': `<html><head><meta name="robots" content="noindex"></head><body><p>${words('secret')}</p><a href="/docs/behind">b</a></body></html>`,
      '/docs/behind': page('Behind', words('lighthouse')),
      '/docs/moved': { status: 301, headers: { location: '/docs/new-place' } },
      '/docs/new-place': page('New place', words('crane')),
      '/docs/away': { status: 302, headers: { location: 'https://elsewhere.example/' } },
      '/docs/inner': { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data' } },
      '/docs/table.csv': { type: 'text/csv', body: 'ship,length\nAurora,41 m\n' },
    })
    const reader = await webReader(service)
    const { body } = await reader.add({ type: 'site', url: `${site.url}/docs/`, exclude: ['/docs/skip/**'] })
    const source = await reader.ended(body.source_id)
    expect(source).toMatchObject({ status: 'ready', error: null, waiting: 0, processing: 0 })
    const listed = await reader.pages(body.source_id)
    const by = (status: string) =>
      listed.filter((one) => one.status === status).map((one) => String(one.url).slice(site.url.length))
    expect(by('ready')).toEqual(['/docs/', '/docs/a', '/docs/moved', '/docs/table.csv', '/docs/deep', '/docs/behind'])
    const reasons = Object.fromEntries(
      listed.flatMap(({ url, reason }) => (reason === null ? [] : [[String(url).slice(site.url.length), reason]])),
    )
    expect(reasons).toEqual({
      '/docs/private/x': 'robots.txt does not allow it.',
      '/docs/skip/me': 'Excluded by `exclude`.',
      '/docs/same': `It says the same as ${site.url}/docs/a`,
      '/docs/hidden': 'The page asks not to be indexed.',
      '/docs/away': 'It redirects to another site: https://elsewhere.example/',
      '/docs/inner': expect.stringContaining('It redirects to another site'),
      '/docs/missing': 'There is no such page (404).',
    })
    expect(source).toMatchObject({ pages: 6, left_out: 7 })
    expect(site.asked).not.toContain('/docs/private/x')
    expect(site.asked).not.toContain('/blog/')
    expect(site.mostAtOnce()).toBe(1)
    expect((await reader.search('Aurora'))[0].url).toBe(`${site.url}/docs/table.csv`)
    expect((await reader.list()).body.files).toEqual([])
  })

  it('whose start leads to another host is the site there', async () => {
    const there = await siteOf({
      '/new/': page('First page', words('keel'), ['/new/second']),
      '/new/second': page('Second page', words('stern'), ['/new/', '/outside']),
    })
    const site = await siteOf({ '/old/': { status: 301, headers: { location: `${there.url}/new/` } } })
    const reader = await webReader(service)
    const { body } = await reader.add({ type: 'site', url: `${site.url}/old/` })
    const source = await reader.ended(body.source_id)
    expect(source).toMatchObject({ status: 'ready', pages: 2 })
    expect((await reader.search('stern'))[0].url).toBe(`${there.url}/new/second`)
    expect(there.asked).not.toContain('/outside')
  })

  it('of type sitemap or feed reads the pages that it names', async () => {
    const site = await siteOf({})
    const url = (path: string) => `${site.url}${path}`
    Object.assign(site.pages, {
      '/sitemap.xml': {
        type: 'application/xml',
        body: `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>${url('/part.xml')}</loc></sitemap></sitemapindex>`,
      },
      '/part.xml': {
        type: 'text/xml',
        body: `<?xml version="1.0"?><urlset><url><loc>${url('/one')}</loc></url><url><loc> ${url('/two?a=1&amp;b=2')} </loc></url></urlset>`,
      },
      '/one': page('One', words('mast'), ['/not-listed']),
      '/two?a=1&b=2': page('Two', words('sail')),
      '/feed': {
        type: 'application/rss+xml',
        body: `<rss version="2.0"><channel><link>${url('/')}</link><item><title>x</title><link>${url('/one')}</link></item></channel></rss>`,
      },
      '/atom': {
        type: 'application/atom+xml',
        body: `<feed xmlns="http://www.w3.org/2005/Atom"><link href="${url('/')}"/><entry><link rel="edit" href="${url('/edit')}"/><link href="${url('/two?a=1&b=2').replace('&', '&amp;')}"/></entry></feed>`,
      },
    })
    const reader = await webReader(service)
    const read = async (source: object) => {
      const { body } = await reader.add(source)
      const ended = await reader.ended(body.source_id)
      const ready = (await reader.pages(body.source_id, '&status=ready')).map((one) => one.url)
      return { ended, ready: ready.filter((address) => !/xml$|feed$|atom$/.test(address)) }
    }
    const sitemap = await read({ type: 'sitemap', url: url('/sitemap.xml') })
    expect(sitemap).toMatchObject({ ended: { status: 'ready', pages: 2 }, ready: [url('/one'), url('/two?a=1&b=2')] })
    expect(await read({ type: 'feed', url: url('/feed') })).toMatchObject({ ready: [url('/one')] })
    expect(await read({ type: 'feed', url: url('/atom') })).toMatchObject({ ready: [url('/two?a=1&b=2')] })
    expect((await read({ type: 'feed', url: url('/one') })).ended).toMatchObject({
      status: 'failed',
      error: 'It is no feed.',
    })
  })

  it('is read again: unchanged pages cost nothing, changed ones are switched, gone ones disappear', async () => {
    let old = 0
    const site = await siteOf({
      '/': page('Start', words('start'), ['/etag', '/changes', '/goes']),
      '/etag': (headers) => {
        if (headers['if-none-match'] !== '"1"') return { headers: { etag: '"1"' }, body: page('Etag', words('etag')) }
        old += 1
        return { status: 304 }
      },
      '/changes': page('Changes', 'The fee is 10 marks. '.repeat(30)),
      '/goes': page('Goes', words('ferry')),
    })
    const reader = await webReader(service)
    const { body } = await reader.add({ type: 'site', url: `${site.url}/` })
    expect(await reader.ended(body.source_id)).toMatchObject({ status: 'ready', pages: 4 })
    const before = await reader.pages(body.source_id)
    const { files, chunks } = service.collections
    const filesBefore = await files.countDocuments({ assistant_id: reader.assistantId })
    site.pages['/changes'] = page('Changes', 'The fee is 99 marks. '.repeat(30))
    delete site.pages['/goes']

    expect((await reader.refresh(body.source_id)).status).toBe(200)
    expect(await reader.ended(body.source_id)).toMatchObject({ status: 'ready', pages: 3, left_out: 1 })
    const after = await reader.pages(body.source_id)
    const fileOf = (pages: any[], path: string) => pages.find((one) => one.url === site.url + path).file_id
    expect(old).toBe(1)
    expect(fileOf(after, '/etag')).toBe(fileOf(before, '/etag'))
    expect(fileOf(after, '/')).toBe(fileOf(before, '/'))
    expect(fileOf(after, '/changes')).not.toBe(fileOf(before, '/changes'))
    const texts = (await reader.search('what is the fee')).map(({ text }) => String(text)).join(' ')
    expect(texts).toContain('99 marks')
    expect(texts).not.toContain('10 marks')
    expect(await files.countDocuments({ assistant_id: reader.assistantId })).toBe(filesBefore - 1)
    const goneFile = fileOf(before, '/goes')
    expect(await chunks.countDocuments({ assistant_id: reader.assistantId, file_id: goneFile })).toBe(0)
    const { vectors } = service.api.infra.knowledge
    expect(await vectors.count(reader.assistantId, goneFile)).toBe(0)
    expect(await vectors.count(reader.assistantId, fileOf(before, '/changes'))).toBe(0)

    // A server that is away: what is known stays, and says so.
    site.pages['/changes'] = { status: 503 }
    await reader.refresh(body.source_id)
    await reader.ended(body.source_id)
    const kept = (await reader.pages(body.source_id)).find((one) => one.url === `${site.url}/changes`)
    expect(kept).toMatchObject({ status: 'ready', reason: 'Not renewed: The site answered with status 503.' })
    expect(JSON.stringify(await reader.search('what is the fee'))).toContain('99 marks')
  })

  describe('that is read again', () => {
    const sitemap = (...urls: string[]) => ({
      type: 'application/xml',
      body: `<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`,
    })
    async function crawled(source: object) {
      const reader = await webReader(service)
      const { body } = await reader.add(source)
      await reader.ended(body.source_id)
      return {
        reader,
        id: body.source_id,
        again: async () => {
          await reader.refresh(body.source_id)
          return reader.ended(body.source_id)
        },
        /** The paths of the pages that have a text. */
        texts: async (site: { url: string }) =>
          (await reader.pages(body.source_id))
            .filter(({ file_id: file }) => file !== null)
            .map(({ url }) => String(url).slice(site.url.length))
            .toSorted(),
      }
    }

    it('keeps the pages of a sitemap that cannot be read, also when another one stops naming them', async () => {
      const site = await siteOf({ '/one': page('One', words('one')), '/two': page('Two', words('two')) })
      site.pages['/both'] = page('Both', words('both'))
      const url = (path: string) => `${site.url}${path}`
      const index = `<sitemapindex>${['/a.xml', '/b.xml'].map((path) => `<sitemap><loc>${url(path)}</loc></sitemap>`).join('')}</sitemapindex>`
      site.pages['/sitemap.xml'] = { type: 'application/xml', body: index }
      site.pages['/a.xml'] = sitemap(url('/one'), url('/both'))
      site.pages['/b.xml'] = sitemap(url('/two'), url('/both'))
      const source = await crawled({ type: 'sitemap', url: url('/sitemap.xml') })
      expect(await source.texts(site)).toEqual(['/both', '/one', '/two'])

      for (const status of [503, 404]) {
        site.pages['/b.xml'] = { status }
        site.pages['/a.xml'] = sitemap(url('/one'))
        expect(await source.again()).toMatchObject({ status: 'ready', pages: 3 })
        expect(await source.texts(site)).toEqual(['/both', '/one', '/two'])
        expect(JSON.stringify(await source.reader.search('two'))).toContain(url('/two'))
      }
      // It was read, and names one of them no longer.
      site.pages['/b.xml'] = sitemap(url('/two'))
      await source.again()
      expect(await source.texts(site)).toEqual(['/one', '/two'])
      // The first list does not name the second any more.
      site.pages['/sitemap.xml'] = {
        type: 'application/xml',
        body: index.replace(/<sitemap><loc>[^<]*b.xml.*?<.sitemap>/, ''),
      }
      await source.again()
      expect(await source.texts(site)).toEqual(['/one'])
    })

    it('keeps an article that moved, in a sitemap and among links', async () => {
      const site = await siteOf({ '/old': page('Article', words('article')) })
      const url = (path: string) => `${site.url}${path}`
      site.pages['/sitemap.xml'] = sitemap(url('/old'))
      site.pages['/'] = page('Start', words('start'), ['/old'])
      const listed = await crawled({ type: 'sitemap', url: url('/sitemap.xml') })
      const linked = await crawled({ type: 'site', url: url('/') })
      expect(await linked.texts(site)).toEqual(['/', '/old'])

      site.pages['/a-new'] = site.pages['/old'] ?? ''
      delete site.pages['/old']
      site.pages['/sitemap.xml'] = sitemap(url('/a-new'))
      site.pages['/'] = page('Start', words('start again'), ['/a-new'])
      await listed.again()
      expect(await listed.texts(site)).toEqual(['/a-new'])
      await linked.again()
      expect(await linked.texts(site)).toEqual(['/', '/a-new'])
      expect(JSON.stringify(await linked.reader.search('article'))).toContain(url('/a-new'))
    })

    it('keeps an article of a feed that moved under one address', async () => {
      const site = await siteOf({ '/gone': page('Gone', words('gone')), '/away': page('Away', words('away')) })
      const feed = (...paths: string[]) =>
        `<rss><channel>${paths.map((path) => `<item><link>${site.url}${path}</link></item>`).join('')}</channel></rss>`
      site.pages['/quiet'] = page('Quiet', words('quiet'))
      site.pages['/feed'] = { type: 'application/rss+xml', body: feed('/gone', '/away', '/quiet') }
      const source = await crawled({ type: 'feed', url: `${site.url}/feed` })
      expect(await source.texts(site)).toEqual(['/away', '/gone', '/quiet'])
      site.pages['/new-gone'] = site.pages['/gone'] ?? ''
      delete site.pages['/gone']
      site.pages['/new-away'] = site.pages['/away'] ?? ''
      site.pages['/away'] = { status: 301, headers: { location: `${site.url}/new-away` } }
      site.pages['/feed'] = { type: 'application/rss+xml', body: feed('/new-gone', '/new-away') }
      await source.again()
      expect(await source.texts(site)).toEqual(['/new-away', '/new-gone', '/quiet'])
    })

    it('keeps an article of a feed under one address that moved and changed, and none that was not read', async () => {
      const site = await siteOf({ '/a': page('A', words('first')), '/b': page('B', words('other')) })
      const feed = (...paths: string[]) => ({
        type: 'application/rss+xml',
        body: `<rss><channel>${paths.map((path) => `<item><link>${site.url}${path}</link></item>`).join('')}</channel></rss>`,
      })
      site.pages['/feed'] = feed('/a', '/b')
      const source = await crawled({ type: 'feed', url: `${site.url}/feed` })
      expect(await source.texts(site)).toEqual(['/a', '/b'])
      // It has moved, and what it says and is called has changed; the new address cannot be read yet.
      site.pages['/a'] = { status: 301, headers: { location: `${site.url}/new` } }
      site.pages['/new'] = { status: 503 }
      site.pages['/feed'] = feed('/new')
      await source.again()
      expect(await source.texts(site)).toEqual(['/a', '/b'])
      site.pages['/new'] = page('Renamed', words('second'))
      await source.again()
      expect(await source.texts(site)).toEqual(['/b', '/new'])
      expect(JSON.stringify(await source.reader.search('first'))).not.toContain('about the first')
      // What a feed names no more is visited once.
      const before = site.asked.filter((path) => path === '/b').length
      await source.again()
      expect(site.asked.filter((path) => path === '/b')).toHaveLength(before)
    })

    it('keeps a page whose canonical address fails, and leaves it to that one when it works', async () => {
      const site = await siteOf({})
      const withCanonical = (title: string, path: string) =>
        page(title, words('canonical')).replace('<head>', `<head><link rel="canonical" href="${site.url}${path}">`)
      site.pages['/'] = page('Start', words('start'), ['/copy', '/print'])
      site.pages['/copy'] = withCanonical('Copy', '/real')
      site.pages['/print'] = withCanonical('Print', '/nowhere')
      site.pages['/real'] = { status: 503 }
      const source = await crawled({ type: 'site', url: `${site.url}/` })
      expect(await source.texts(site)).toEqual(['/', '/copy', '/print'])
      site.pages['/real'] = withCanonical('Real', '/real')
      expect(await source.again()).toMatchObject({ waiting: 0, processing: 0 })
      expect(await source.texts(site)).toEqual(['/', '/print', '/real'])
    })

    it('meets a page again that failed once, behind one that is unchanged', async () => {
      const etag: (headers: NodeJS.Dict<string | string[]>) => object = (headers) =>
        headers['if-none-match'] === '"1"'
          ? { status: 304 }
          : { headers: { etag: '"1"' }, body: page('Start', words('start'), ['/later', '/skipped']) }
      const site = await siteOf({ '/': etag, '/later': { status: 503 }, '/skipped': page('Skipped', words('skipped')) })
      const source = await crawled({ type: 'site', url: `${site.url}/`, exclude: ['/skipped'] })
      expect(await source.texts(site)).toEqual(['/'])
      site.pages['/later'] = page('Later', words('later'))
      expect(await source.again()).toMatchObject({ pages: 2, left_out: 1 })
      expect(await source.texts(site)).toEqual(['/', '/later'])
      expect(site.asked).not.toContain('/skipped')
    })

    it('keeps two pages of the same text apart when the first of them is gone', async () => {
      const site = await siteOf({ '/': page('Start', words('start'), ['/x', '/y']) })
      site.pages['/x'] = site.pages['/y'] = page('Same', words('same'))
      const source = await crawled({ type: 'site', url: `${site.url}/` })
      expect(await source.texts(site)).toEqual(['/', '/x'])
      site.pages['/x'] = { status: 503 }
      await source.again()
      // What was not renewed is no reason to leave another one out.
      expect(await source.texts(site)).toEqual(['/', '/x', '/y'])
      site.pages['/x'] = site.pages['/y'] ?? ''
      await source.again()
      const [, left = ''] = await source.texts(site)
      expect(['/x', '/y']).toContain(left)
      expect(await source.texts(site)).toHaveLength(2)
      delete site.pages[left]
      await source.again()
      expect(await source.texts(site)).toEqual(['/', left === '/x' ? '/y' : '/x'])
    })
  })

  it('is crawled by its schedule at Temporal, and its history holds neither addresses nor texts', async () => {
    const site = await siteOf({ '/': page('SECRETTITLE', words('SECRETWORD')) })
    const reader = await webReader(service)
    const { body } = await reader.add({ type: 'page', url: `${site.url}/`, refresh: { cron: '0 4 * * 1' } })
    await reader.ended(body.source_id)
    const { schedule, workflow } = service.temporal
    await eventually('the schedule', () =>
      schedule
        .getHandle(`source/${body.source_id}`)
        .trigger()
        .then(() => true),
    )
    const { sources } = service.collections
    await eventually('the second crawl', async () => (await sources.findById(body.source_id).lean())?.round === 2)
    expect(await reader.ended(body.source_id)).toMatchObject({ status: 'ready', pages: 1 })
    const handle = workflow.getHandle(crawlContract.id({ sourceId: body.source_id, crawlKey: '1' }))
    expect(await handle.result()).toBe('done')
    const crawl = await handle.fetchHistory()
    await recordHistory('crawl', crawl)
    await reader.call('DELETE', `${reader.path}/${body.source_id}`)
    const deletion = await workflow.getHandle(sourceDeletionContract.id({ sourceId: body.source_id })).fetchHistory()
    await recordHistory('source-deletion', deletion)
    for (const history of [crawl, deletion])
      for (const secret of ['SECRET', site.url]) expect(historyText(history)).not.toContain(secret)
  })

  it('stops when its owner is suspended, and keeps what it had', async () => {
    const site = await siteOf({ '/': page('Start', words('start'), ['/one', '/two']) })
    site.pages['/one'] = page('One', words('one'))
    site.pages['/two'] = page('Two', words('two'))
    const reader = await webReader(service)
    const { body } = await reader.add({ type: 'site', url: `${site.url}/` })
    expect(await reader.ended(body.source_id, 120_000)).toMatchObject({ status: 'ready', pages: 3 })
    site.asked.length = 0
    const { collections } = service
    const { activities } = service.api.platform.sources
    const step = { sourceId: body.source_id, crawlId: 'again' }
    expect(await beginCrawl(collections, step)).toBe(true)
    const web: typeof activities.web = {
      ...activities.web,
      async ask(...asked) {
        await collections.assistants.updateOne({ _id: reader.assistantId }, { $set: { suspended: true } })
        return activities.web.ask(...asked)
      },
    }
    const { signal } = new AbortController()
    let ended = 'more'
    for (let batch = 0; ended === 'more'; batch++)
      ended = await crawlPages({ ...activities, web }, { ...step, batch }, signal)
    expect(ended).toBe('done')
    expect(site.asked.filter((path) => path !== '/robots.txt')).toEqual(['/'])
    const pages = await collections.sourcePages.find({ source_id: body.source_id }).sort({ url: 1 }).lean()
    expect(pages.map(({ status, file_id: file }) => [status, file !== undefined])).toEqual(
      Array(3).fill(['ready', true]),
    )
    const reason = 'Nothing is read while the account is suspended.'
    expect(pages.map((one) => one.reason)).toEqual([undefined, reason, reason])
  })

  it('is in an archive without its pages, and crawled after an import when it is asked for', async () => {
    const site = await siteOf({ '/': page('Start', words('start')) })
    const reader = await webReader(service)
    const settings = {
      max_pages: 7,
      max_depth: 2,
      include: ['/**'],
      exclude: ['/x'],
      refresh: { interval_seconds: 86_400 },
    }
    const { body } = await reader.add({ type: 'site', url: `${site.url}/`, ...settings })
    await reader.ended(body.source_id)
    const archive = await archiveOf(service, reader)
    expect(linesIn(gunzipSync(archive), 'files')).toEqual([])
    const target = await insertUser(service)
    const { body: report } = await importInto(service, target, archive)
    expect({ problems: report.problems, imported: report.imported.sources }).toEqual({ problems: [], imported: 1 })
    const imported = await service.collections.sources.findOne({ user_id: target.userId }).orFail().lean()
    expect(imported).toMatchObject({ type: 'site', url: `${site.url}/`, ...settings, status: 'failed' })
    const asked = site.asked.length
    const path = `/assistants/${imported.assistant_id}/sources/${imported._id}`
    expect((await target.call('GET', path)).body.error).toContain('archive')
    await target.call('POST', `${path}/refresh`, {})
    await eventually('its page', async () => (await target.call('GET', path)).body.pages === 1, 30_000)
    expect(site.asked.length).toBeGreaterThan(asked)
  })

  it('is deleted with everything made from it, alone and with its assistant', async () => {
    const site = await siteOf({ '/': page('Start', words('start'), ['/a']), '/a': page('A', words('anchor')) })
    const reader = await webReader(service)
    const one = (await reader.add({ type: 'site', url: `${site.url}/`, refresh: { interval_seconds: 86_400 } })).body
    const two = (await reader.add({ type: 'page', url: `${site.url}/a`, refresh: { cron: '0 4 * * 1' } })).body
    await reader.ended(one.source_id)
    await reader.ended(two.source_id)
    const { refreshes } = service.api.platform.core
    const schedules = () => Promise.all([one, two].map((source) => refreshes.exists(source.source_id)))
    await eventually('both schedules', async () => (await schedules()).every(Boolean))
    const { status, body } = await reader.call('DELETE', `${reader.path}/${one.source_id}`)
    expect({ status, body }).toMatchObject({ status: 200, body: { deleted: true, receipt_id: one.source_id } })
    const receipt = (await reader.call('GET', `/receipts/${one.source_id}`)).body
    expect(receipt).toMatchObject({
      kind: 'source',
      status: 'complete',
      found: { sources: 1, source_pages: 2, files: 2 },
      left: { sources: 0, source_pages: 0, files: 0 },
    })
    expect((await reader.call('GET', `${reader.path}/${one.source_id}`)).status).toBe(404)
    const { sources, sourcePages, files } = service.collections
    const own = { assistant_id: reader.assistantId }
    expect(await files.countDocuments(own)).toBe(1)
    expect(await schedules()).toEqual([false, true])

    const gone = await reader.call('DELETE', `/assistants/${reader.assistantId}`)
    expect(gone.status).toBeLessThan(300)
    const counts = [sources, sourcePages, files].map((collection) =>
      (collection as unknown as { countDocuments(filter: object): Promise<number> }).countDocuments(own),
    )
    expect(await Promise.all(counts)).toEqual([0, 0, 0])
    expect(await schedules()).toEqual([false, false])
    const last = (await reader.call('GET', `/receipts/${gone.body.receipt_id}`)).body
    expect(last).toMatchObject({ found: { temporal_refreshes: 1 }, left: { temporal_refreshes: 0 } })
  })

  it('is refused when its address may not be reached, or its owner has enough of them', async () => {
    const reader = await webReader(service)
    const refused = async (source: object) => {
      const { status, body } = await reader.add(source)
      return [status, body.detail?.[0]?.loc?.join('.')]
    }
    for (const url of ['http://169.254.169.254/', 'http://10.0.0.1/', 'ftp://example.com/', 'http://a:b@example.com/'])
      expect(await refused({ type: 'page', url })).toEqual([422, 'body.url'])
    const closed = await startSite({})
    await closed.close()
    const url = `${closed.url}/`
    expect(await refused({ type: 'page', url, refresh: {} })).toEqual([422, 'body.refresh.cron'])
    expect(await refused({ type: 'page', url, refresh: { cron: 'soon' } })).toEqual([422, 'body.refresh.cron'])
    // Temporal takes the names of time zones letter by letter.
    const refresh = { cron: '0 4 * * *', timezone: 'europe/berlin' }
    expect(await refused({ type: 'page', url, refresh })).toEqual([422, 'body.refresh.timezone'])
    expect(await service.collections.sources.countDocuments({ assistant_id: reader.assistantId })).toBe(0)
    const { body } = await reader.add({ type: 'page', url })
    expect(await reader.ended(body.source_id, 60_000)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('The site refuses connections.'),
    })
    const most = service.settings.sourceMaxDefault
    const record = await service.collections.sources.findById(body.source_id).orFail().lean()
    await service.collections.sources.insertMany(
      Array.from({ length: most - 1 }, (_, index) => ({
        ...record,
        _id: `${record._id}-${index}`,
      })),
    )
    expect((await reader.add({ type: 'page', url })).status).toBe(403)
  })
})

/** Enough text that a page has a main part. */
function words(word: string): string {
  return `A sentence about the ${word}, which is told here at some length. `.repeat(8)
}
