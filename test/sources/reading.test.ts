import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { addressFilter, canonicalAddress, isWithin } from '../../domain/sources/addresses.ts'
import { problemOfGlob, readGlob } from '../../domain/sources/globs.ts'
import { readWebPage } from '../../infra/extract/formats/web-page.ts'
import { rulesIn } from '../../infra/web/robots.ts'
import { watchProcessor } from '../support/slowness.ts'

describe('addresses', () => {
  it('have one form', () => {
    const forms = [
      ['HTTP://Example.com:80/a/../b#top', 'http://example.com/b'],
      ['https://example.com?utm_source=x&gclid=1', 'https://example.com/'],
      ['https://example.com/a?b=1&utm_medium=mail', 'https://example.com/a?b=1'],
      ['mailto:a@example.com', undefined],
      ['https://me:secret@example.com/', undefined],
      [`https://example.com/${'a'.repeat(3000)}`, undefined],
    ] as const
    for (const [given, form] of forms) expect(canonicalAddress(given)).toBe(form)
  })

  it('belong to a site at and below its address', () => {
    const site = (url: string) => ({ type: 'site' as const, url })
    const within = (url: string, address: string) => isWithin(site(url), address)
    expect(within('https://example.com/docs', 'https://www.example.com/docs/a')).toBe(true)
    expect(within('https://example.com/docs', 'https://example.com/docsother')).toBe(false)
    expect(within('https://example.com/docs/index.html', 'https://example.com/docs/b')).toBe(true)
    expect(within('https://example.com/', 'http://example.com/any')).toBe(true)
    expect(within('https://example.com/', 'https://example.com.evil.example/')).toBe(false)
    // A site whose start leads elsewhere is there.
    const moved = { ...site('https://old.example/'), moved_to: 'https://new.example/docs/' }
    expect(isWithin(moved, 'https://new.example/docs/a')).toBe(true)
    expect(isWithin(moved, 'https://old.example/a')).toBe(false)
    expect(isWithin({ type: 'feed', url: 'https://example.com/feed' }, 'https://other.example/')).toBe(true)
  })

  it('are left out by globs and when they repeat themselves', () => {
    const matchesGlob = (glob: string, text: string) => readGlob(glob)(text)
    const whyLeftOut = (globs: { include: string[]; exclude: string[] }, address: string) =>
      addressFilter(globs)(address)
    expect(matchesGlob('/docs/**', '/docs/a/b?c')).toBe(true)
    expect(matchesGlob('/docs/*', '/docs/a/b')).toBe(false)
    expect(matchesGlob('/*/b', '/a/b')).toBe(true)
    expect(matchesGlob('**.pdf', 'https://example.com/a.pdf')).toBe(true)
    expect(matchesGlob('/a.c', '/abc')).toBe(false)
    const globs = { include: ['/docs/**'], exclude: ['/docs/old/**'] }
    expect(whyLeftOut(globs, 'https://example.com/docs/a')).toBeUndefined()
    expect(whyLeftOut(globs, 'https://example.com/docs/old/a')).toContain('exclude')
    expect(whyLeftOut(globs, 'https://example.com/blog')).toContain('include')
    expect(whyLeftOut({ include: [], exclude: [] }, 'https://example.com/a/b/a/b/a/b/a/b')).toContain('repeats')
    expect(['/**/a/*/b', '*a*b*c*', '**a*b*c*d*'].map(problemOfGlob)).toEqual([
      undefined,
      undefined,
      'has more than 4 stars',
    ])
    // A pattern that backtracks would not end.
    expect(matchesGlob('*a'.repeat(50), 'a'.repeat(2000))).toBe(true)
  })
})

describe('robots.txt', () => {
  const rules = (text: string) =>
    rulesIn(text, 'https://example.com/robots.txt', { agent: 'AssistantPlatformBot', pauseMs: 200 })

  it('says what may be read, and how fast', () => {
    const said = rules(
      'User-agent: *\nDisallow: /\n\nUser-agent: assistantplatformbot\nDisallow: /private\nCrawl-delay: 2',
    )
    expect(said.pauseMs).toBe(2000)
    expect(said.refusal('https://example.com/a')).toBeUndefined()
    expect(said.refusal('https://example.com/private/a')).toContain('robots.txt')
    expect(rules('User-agent: *\nCrawl-delay: 600').refusal('https://example.com/a')).toContain('600 seconds')
    expect(rules('<html>not a robots file</html>').refusal('https://example.com/a')).toBeUndefined()
  })

  it('made to be slow is compared in bounded time', () => {
    const evil = Array.from({ length: 20_000 }, () => `Disallow: ${'*a'.repeat(200)}b`).join('\n')
    const took = watchProcessor()
    expect(rules(`User-agent: *\n${evil}`).refusal(`https://example.com/${'a'.repeat(2000)}`)).toBeUndefined()
    expect(took()).toBeLessThan(2000)
  })
})

describe('a page', () => {
  const read = async (text: string, url = 'https://example.com/docs/a') => {
    const folder = await mkdtemp(path.join(tmpdir(), 'web-page-'))
    try {
      await writeFile(path.join(folder, 'file'), text)
      return await readWebPage(path.join(folder, 'file'), { url, maxLinks: 100 })
    } finally {
      await rm(folder, { recursive: true })
    }
  }
  const text = 'A sentence of the main part, which is long enough to count. '.repeat(10)

  it('is its main part, its links, and what it says of itself', async () => {
    const { facts, links, html } =
      await read(`<!doctype html><html><head><title>T &amp; <b></title><base href="/other/">
      <link rel="canonical" href="https://example.com/c"><meta name="robots" content="NOINDEX, nofollow"></head>
      <body><nav><a href="nav">n</a></nav><main><h1>Head</h1><p>${text}</p><a href="b#c">b</a> <a href="mailto:x@y.z">m</a>
      <a rel="nofollow" href="/no">no</a><pre><code>let x = 1</code></pre><script>alert(1)</script></main><footer>foot</footer></body></html>`)
    expect(facts).toMatchObject({ kind: 'page', canonical: 'https://example.com/c', noindex: true, nofollow: true })
    expect(links).toEqual(['https://example.com/other/nav', 'https://example.com/other/b'])
    expect(html).toContain('let x = 1')
    expect(html).toContain('<h2>Head</h2>')
    expect(html).not.toMatch(/alert|foot|>n</)
  })

  it('without a main part is all of it, and without text nothing', async () => {
    expect((await read('<p>Short.</p>')).html).toContain('Short.')
    expect((await read('<html><body><div id="root"></div><script>app()</script></body></html>')).html).toBe('')
  })

  it('with links without number, or without end, is bounded', async () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `<a href="/l/${index}">${index}</a>`).join('')
    const { facts, links, html } = await read(`<html><body>${many}</body></html>`)
    expect(links).toHaveLength(100)
    expect(html).toBe('')
    expect(facts.hasMoreLinks).toBe(true)
    const deep = await read(`<html><body>${'<div>'.repeat(20_000)}${text}`).catch((error: unknown) => String(error))
    expect(deep).toBeDefined()
  })

  it('of a feed or a sitemap names pages', async () => {
    const atom = await read(
      '<?xml version="1.0"?><feed><link href="/"/><entry><link rel="self" href="/s"/><link href="/one"/></entry></feed>',
    )
    expect(atom).toMatchObject({ facts: { kind: 'feed' }, links: ['https://example.com/one'] })
    const index = await read('<sitemapindex><sitemap><loc>https://example.com/s1.xml</loc></sitemap></sitemapindex>')
    expect(index).toMatchObject({ facts: { kind: 'lists' }, links: ['https://example.com/s1.xml'] })
    const rdf = await read('<rdf:RDF><channel><link>/c</link></channel><item><link>/i</link></item></rdf:RDF>')
    expect(rdf.links).toEqual(['https://example.com/i'])
  })
})

describe('the characters of a page', () => {
  const html = (meta: string) =>
    Buffer.from(
      `<html><head>${meta}<title>P\xf8ihl\xe1\x9aka</title></head><body><p>D\xec\xe8\xedn</p></body></html>`,
      'latin1',
    )
  it.each([
    ['the server says', 'windows-1250', '', 'Přihláška'],
    ['the server says, whatever the page does', 'windows-1250', '<meta charset="iso-8859-1">', 'Přihláška'],
    ['the page says', undefined, `<style>/*${'x'.repeat(5000)}*/</style><meta charset="windows-1250">`, 'Přihláška'],
  ])('are those that %s', async (_what, charset, meta, title) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'charset-'))
    try {
      const file = path.join(folder, 'page')
      await writeFile(file, html(meta))
      const { facts } = await readWebPage(file, { url: 'https://example.com/', maxLinks: 10, charset })
      expect(facts.title).toBe(title)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
