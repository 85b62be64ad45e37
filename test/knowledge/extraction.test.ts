import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Chunk } from '../../domain/chunking/chunker.ts'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { type Extractor, createExtractor } from '../../infra/extract/extractor.ts'
import { readJson } from '../../infra/extract/formats/json.ts'
import { readRtfText } from '../../infra/extract/rtf/reader.ts'
import { fileOnDisk } from '../support/file-on-disk.ts'
import { deepDocx, deepMail, deepOdt, docxBomb, endlessPdf, repeatedOdt, zipBomb } from '../support/hostile-files.ts'
import { xlsx } from '../support/office-files.ts'

/** The time on the clock is that of a busy machine: what takes too long is found by its processor time. */
const limits = { memoryMb: 600, cpuSeconds: 30, timeoutSeconds: 170, idleReaders: 3 }
const fixtures = join(import.meta.dirname, 'fixtures')
let folder: string
let extractor: Extractor

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'extraction-'))
  extractor = createExtractor(limits)
})
afterAll(async () => {
  await extractor.close()
  await rm(folder, { recursive: true, force: true })
})

interface Read {
  chunks: Chunk[]
  contentType: string
  text: string
}

async function read(path: string, name: string, from = extractor): Promise<Read> {
  const chunks: Chunk[] = []
  const running = from.extract(await fileOnDisk(path, name))
  for (;;) {
    const next = await running.next()
    if (next.done) return { chunks, ...next.value, text: chunks.map((chunk) => chunk.text).join('\n') }
    chunks.push(next.value)
  }
}

const fixture = (name: string, as = name) => read(join(fixtures, name), as)

async function content(name: string, data: string | Buffer, from = extractor) {
  const path = join(folder, 'given')
  await writeFile(path, data)
  return read(path, name, from)
}

/** The pages of the first sentences that begin with these words. */
function pagesOf(chunks: Chunk[], beginnings: string[]) {
  return beginnings.map((words) => {
    const chunk = chunks.find(({ text }) => text.includes(words))
    return chunk?.pages?.find(({ sentences }) => sentences.includes(chunk.text.indexOf(words)))?.page
  })
}

const reasonOf = (reading: Promise<Read>) =>
  reading.then(
    ({ text }) => `text: ${text.slice(0, 200)}`,
    (error: unknown) => (error instanceof UnreadableFile ? error.reason : error),
  )

const amalia = 'Ship: Amalia; Tons: 1180; Captain: Brandt'

describe('documents of other programs', () => {
  it.each([
    ['harbour-pandoc.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['harbour-libreoffice.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['harbour.odt', 'application/vnd.oasis.opendocument.text'],
    ['harbour.epub', 'application/epub+zip'],
    ['harbour.rtf', 'application/rtf'],
    ['harbour.html', 'text/html'],
    ['harbour.md', 'text/markdown'],
  ])('reads %s: headings, lists, tables with their header, notes', async (name, type) => {
    const { chunks, contentType, text } = await fixture(name)
    expect(contentType).toBe(type)
    expect(text).toContain('Written for the harbour board of Lüneburg in 1904.')
    expect(text).toContain('412 passengers across the strait in March.')
    expect(text).toMatch(/coal from Silesia\n+- ?timber from Riga/)
    expect(text).toContain(amalia)
    expect(text).toContain('Paid in three parts.')
    expect(chunks[0]?.heading).toContain('Harbour report')
    expect(text).not.toMatch(/[<>]/)
  })

  it.each([['harbour.pptx'], ['harbour.odp']])('reads the slides of %s', async (name) => {
    const { chunks, text } = await fixture(name)
    expect(text).toContain(amalia)
    expect(text).toContain('The dredging of the western basin cost 73,500 marks.')
    expect(chunks[0]).toMatchObject({ heading: 'Harbour report' })
    expect(pagesOf(chunks, ['Harbour report', 'The dredging of the western basin'])).toEqual([1, 2])
  })

  it.each([['ships.xlsx'], ['ships.ods'], ['ships.xls'], ['ships.csv']])(
    'keeps the header in the rows of %s',
    async (name) => {
      expect((await fixture(name)).text).toContain(`${amalia}\nShip: Nordstern; Tons: 960; Captain: Øver;gård`)
    },
  )

  it('leaves out hidden sheets where that is set', async () => {
    const sheets = ['Fees', 'Salaries'].map((name, index) => ({ name, rows: [[name, index]], isHidden: index === 1 }))
    const discreet = createExtractor({ ...limits, readsHidden: false })
    try {
      expect((await content('book.xlsx', xlsx(sheets), discreet)).text).not.toContain('Salaries')
      expect((await content('book.xlsx', xlsx(sheets))).text).toContain('Salaries')
    } finally {
      await discreet.close()
    }
  })

  it('reads a PDF page by page, in the order of the text', async () => {
    const { chunks, text } = await fixture('devils-dictionary.pdf')
    expect(text.indexOf('ABASEMENT')).toBeLessThan(text.indexOf('ABDICATION'))
    expect(text.indexOf('ABDICATION')).toBeLessThan(text.indexOf('ABSURDITY'))
    const pages = chunks.flatMap((chunk) => chunk.pages?.map(({ page }) => page) ?? [])
    expect(pages).toEqual(pages.toSorted((a, b) => a - b))
    expect(new Set(pages)).toEqual(new Set(Array.from({ length: 24 }, (_, index) => index + 1)))
    const ghostscript = await fixture('harbour-ghostscript.pdf')
    expect(ghostscript.text).toMatch(/dredging of the western basin.*73,500 marks.*Nordstern carried coal/s)
  })

  it.each([
    ['harbour-latin1.txt', 'Lüneburg'],
    ['harbour-utf16.txt', 'Øvergård'],
    ['czech-8859-2.txt', 'Příliš žluťoučký kůň'],
    ['russian-koi8r.txt', 'Это обычный русский текст'],
    ['japanese-shiftjis.txt', 'これは日本語の文章です'],
  ])('detects the encoding of %s', async (name, words) => {
    expect((await fixture(name)).text).toContain(words)
  })

  it('reads the text of a Word 97 document', async () => {
    expect((await fixture('harbour.doc')).text).toContain('The dredging of the western basin cost 73,500 marks.')
  })

  it('detects the format from the content when the name disagrees', async () => {
    expect((await fixture('harbour-ghostscript.pdf', 'notes.txt')).contentType).toBe('application/pdf')
    expect((await fixture('harbour.md', 'harbour.pdf')).text).toContain('412 passengers')
    expect((await fixture('harbour.html', 'page')).contentType).toBe('text/html')
  })
})

describe('text formats', () => {
  it('reads the content of a page, not its markup', async () => {
    const page = `<!doctype html><html><head><title>Tides &amp; ships</title><style>p{color:red}</style></head><body>
      <nav><a href="/">Home</a></nav><script>alert("no")</script><!-- hidden words -->
      <h1>Tides</h1><p>High water at <b>six</b>&nbsp;o&#8217;clock.<br>Low at noon.</p><p hidden>secret</p>
      <table><tr><th>Port</th><th>Metres</th></tr><tr><td>Riga</td><td>2,1</td></tr></table>
      <pre>let x = 1
  let y</pre></body></html>`
    const { chunks, text } = await content('page.html', page)
    expect(text).toBe(
      'Tides & ships\nTides\nHigh water at six o’clock.\n\nLow at noon.\n\nPort: Riga; Metres: 2,1\nlet x = 1\n  let y',
    )
    expect(chunks[0]?.heading).toBe('Tides')
  })

  it('keeps numbers and what stands above or below them apart', async () => {
    const page = `<p>10<sup>6</sup> parts, 5 m<sup>2</sup>, 10<sup>−<b>3</b></sup> g, SO<sub>4</sub><sup>2-</sup>, 1010<sub>2</sub>.</p>
      <p>Revenue<sup>1</sup>, H<sub>2</sub>O, 1<sup>st</sup>, 2019<sup>[3]</sup></p>
      <table><tr><th>Ship</th><th>Tons</th></tr><tr><td>Amalia</td><td>3 · 10<sup>9</sup></td></tr></table>`
    const { text } = await content('page.html', page)
    expect(text.replace(/\n+/g, '\n')).toBe(
      '10^6 parts, 5 m^2, 10^−3 g, SO4^2-, 1010_2.\nRevenue1, H2O, 1st, 2019[3]\nShip: Amalia; Tons: 3 · 10^9',
    )
  })

  it('has the numbers of its lists as they are shown, and powers that a style raises', async () => {
    const page = `<style>.hoch, b.x { vertical-align: super } .tief{vertical-align:sub}</style>
      <ol start="2"><li>Rent<ol type="a"><li>due</li><li value="4">late</li></ol></li>
      <li>Levy<ol style="list-style-type: lower-roman"><li>oil</li><li>rope</li></ol></li></ol><ol start="0"><li>none</li></ol>
      <p>10<span class="big hoch">6</span> parts, 5 m<span style="vertical-align:super">2</span>, 101<span class="tief">2</span>, <span>10</span></p>`
    const { text } = await content('page.html', page)
    expect(text.replace(/\n+/g, '\n')).toBe(
      '2. Rent\na. due\nd. late\n3. Levy\ni. oil\nii. rope\n0. none\n10^6 parts, 5 m^2, 101_2, 10',
    )
  })

  it('reads JSON as paths and values, also with special keys', async () => {
    const { text } = await content('data.json', '{"ship":{"name":"Amalia","tons":[1180,{"__proto__":"x"}]}}')
    expect(text).toBe('ship.name: Amalia\nship.tons.0: 1180\nship.tons.1.__proto__: x')
    expect((await content('rows.jsonl', '{"a":1}\n{"a":2}\nbroken {')).text).toBe('a: 1\na: 2\nbroken {')
    expect((await content('broken.json', '{"a": nothing')).text).toBe('{"a": nothing')
  })

  it('keeps the indentation of source code', async () => {
    const code = 'def tide(hour):\n    if hour > 6:\n        return "low"\n'
    expect((await content('tide.py', code)).text).toBe(code.trimEnd())
  })

  it('detects the separator, and tolerates unclosed quotes', async () => {
    expect((await content('a.csv', 'Name;Born\n"Lovelace; Ada";1815\n')).text).toBe('Name: Lovelace; Ada; Born: 1815')
    expect((await content('a.tsv', 'Name\tBorn\nAda\t1815\n')).text).toBe('Name: Ada; Born: 1815')
    const broken = `Name,Born\nAda,1815\nEve,"1900\n${'Zoe,1901\n'.repeat(150_000)}`
    const { text } = await content('broken.csv', broken)
    expect(text).toContain('Name: Ada; Born: 1815')
    expect(text).toContain('Zoe,1901')
  })

  it('keeps Unicode line ends in a text', async () => {
    expect((await content('a.txt', 'one\u2028two\u2029three\u0085four')).text).toBe('one\u2028two\u2029three\u0085four')
  })

  it('treats the name of a control token as text', async () => {
    expect((await content('a.txt', 'before <|endoftext|> after')).text).toBe('before <|endoftext|> after')
  })
})

describe('unreadable files', () => {
  it.each([
    ['encrypted.pdf', 'encrypted'],
    ['encrypted.docx', 'encrypted'],
    ['encrypted.odt', 'encrypted'],
    ['picture.png', 'unsupported'],
  ])('gives the reason for %s', async (name, reason) => {
    expect(await reasonOf(fixture(name))).toBe(reason)
  })

  it.each([
    ['nothing.txt', '', 'empty'],
    ['blank.txt', '  \n\n ', 'no_text'],
    [
      'noise.bin',
      Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919 * (index % 251)) % 256)),
      'no_text',
    ],
    ['cut.pdf', '%PDF-1.7\n1 0 obj\n<<', 'damaged'],
    ['cut.docx', Buffer.from('504b0304140000000800', 'hex'), 'damaged'],
  ])('gives the reason for %s', async (name, data, reason) => {
    expect(await reasonOf(content(name, data))).toBe(reason)
  })
})

describe('malicious files', () => {
  it.each([
    ['a document that unpacks to gigabytes', 'bomb.docx', () => docxBomb(150), /out_of_memory|too_large/],
    [
      'a document nested without end',
      'deep.docx',
      () => deepDocx(200_000),
      /out_of_memory|too_large|damaged|crashed|no_text/,
    ],
    ['an archive that unpacks to gigabytes', 'bomb.zip', () => zipBomb(100), /too_large/],
    ['a mail nested without end', 'deep.eml', () => deepMail(20_000), /damaged/],
    ['a notebook nested without end', 'deep.ipynb', () => Buffer.from(`{"cells":${'['.repeat(1_000_000)}`), /damaged/],
    [
      'a small RTF document of groups in groups',
      'deep.rtf',
      () => Buffer.from(`{\\rtf1${'{'.repeat(5000)}`),
      /damaged/,
    ],
    ['a small text of elements in elements', 'deep.odt', () => deepOdt(100_000), /damaged/],
    ['a small text whose tables in tables repeat their cells', 'wide.odt', () => repeatedOdt(8), /too_large/],
    ['an RTF document nested without end', 'deep.rtf', () => Buffer.from(`{\\rtf1${'{'.repeat(1_000_000)}`), /damaged/],
    ['a page nested without end', 'deep.html', () => Buffer.from('<div>'.repeat(1_000_000)), /damaged/],
  ])('%s fails without effect on others', async (_what, name, make, reason) => {
    const [bad, good] = await Promise.all([reasonOf(content(name, make())), fixture('harbour.md')])
    expect(bad).toMatch(reason)
    expect(good.text).toContain(amalia)
  })

  it('a PDF that never ends fails without effect on others', async () => {
    // Of the usual limit, it would use all.
    const brief = createExtractor({ ...limits, cpuSeconds: 6 })
    try {
      const [bad, good] = await Promise.all([
        reasonOf(content('endless.pdf', endlessPdf(30_000), brief)),
        read(join(fixtures, 'harbour.md'), 'harbour.md', brief),
      ])
      expect(bad).toBe('too_slow')
      expect(good.text).toContain(amalia)
    } finally {
      await brief.close()
    }
  })

  it('reads an RTF table whose cells have a border each', () => {
    const cells = (row: number) =>
      Array.from({ length: 1000 }, (_, cell) => `\\cellx${(row * 1000 + cell + 1) * 100}`).join('')
    const rows = Array.from(
      { length: 100 },
      (_, row) => `\\trowd${cells(row)}\\intbl ${'abc\\cell '.repeat(1000)}\\row\n`,
    )
    const begun = performance.now()
    const text = [...readRtfText(`{\\rtf1 ${rows.join('')}}`)].map((block) => block.text).join('; ')
    expect(text.match(/abc/g)?.length).toBeGreaterThanOrEqual(100_000)
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  it('reads JSON of more objects and arrays than may be parsed as text', async () => {
    const path = join(folder, 'lists.json')
    await writeFile(path, `["start",${'[],'.repeat(2_000_000)}[]]`)
    const { value } = await readJson(path, 'json').next()
    expect(value).toMatchObject({ kind: 'code', text: expect.stringMatching(/^\["start",\[\],\[\]/) })
  })

  it('reads deeply nested JSON', async () => {
    const depth = 200_000
    const { text } = await content('deep.json', `${'['.repeat(depth)}"core"${']'.repeat(depth)}`)
    expect(text).toBe('0.0.0.0.0.0: core')
  })

  it.each([
    ['too long', { timeoutSeconds: 0.2 }, 'timed_out'],
    ['too much processor time for its size', { cpuSeconds: 1 }, 'too_slow'],
  ])('kills a reader that takes %s', async (_what, limit, reason) => {
    const impatient = createExtractor({ ...limits, ...limit })
    try {
      expect(await reasonOf(content('slow.pdf', endlessPdf(20_000), impatient))).toBe(reason)
    } finally {
      await impatient.close()
    }
  })

  it('ends the reader when the caller aborts', async () => {
    const stop = new AbortController()
    const path = join(folder, 'aborted.pdf')
    await writeFile(path, endlessPdf(50_000))
    const running = extractor.extract(await fileOnDisk(path, 'aborted.pdf'), stop.signal)
    await running.next()
    stop.abort(new Error('enough'))
    const drained = (async () => {
      for (;;) if ((await running.next()).done) return 'finished'
    })()
    await expect(drained).rejects.toThrow('enough')
  })
})
