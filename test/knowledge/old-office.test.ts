import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { extractBlocks } from '../../infra/extract/extract-blocks.ts'
import { openCompoundFile } from '../../infra/extract/ole/compound-file.ts'
import { compoundFile } from '../support/compound-file.ts'
import { docx, paragraph } from '../support/office-files.ts'
import { type OldSlide, atom, container, group, longs, oldSlides, shape, text } from '../support/old-slides.ts'
import { type OldParagraph, oldWord, word6 } from '../support/old-word.ts'

const fixture = (name: string) => readFile(new URL(`fixtures/${name}`, import.meta.url))

/** Headings with their level before them. */
async function read(content: Buffer, name: string): Promise<string[]> {
  const texts: string[] = []
  for await (const block of extractBlocks(content, name))
    texts.push(block.kind === 'heading' ? `${block.level} ${block.text}` : block.text)
  return texts
}

async function outcome(content: Buffer, name: string): Promise<string> {
  try {
    return (await read(content, name)).join('\n')
  } catch (error) {
    if (error instanceof UnreadableFile) return error.reason
    throw error
  }
}

describe('a document of Word 97', () => {
  it('has headings, numbers, merged cells, notes, comments and boxes at their places, and nothing hidden', async () => {
    expect(await read(await fixture('berth-libreoffice.doc'), 'berth.doc')).toEqual([
      'Harbour office of Lüneburg',
      '1 Lease of a berth',
      'The rent is due on the third day of each month.',
      'Sundays do not count.',
      '(comment by Ada Byron: Is that so?)',
      'The levy is 10^-3 € per kilogram of coal, i.e. “nearly nothing” – says the board.',
      'Draft of the board',
      '2 Terms',
      '1. The lease begins in May.',
      '1.1 It ends after two years.',
      '1.2 It can be prolonged.',
      '2. See the fees.',
      'Length: up to 8 m; Summer Day: 48; Summer Month: 900; Winter Day: 30; Winter Month: 610',
      'Length: 8–12 m; Summer Day: 61; Summer Month: 1150; Winter Day: 41; Winter Month: 790',
      'Signed by Łukasz, עדה and 造船.',
      'Page  of the lease',
    ])
  })

  const cell = (text: string, depth = 1): OldParagraph => ({
    text: depth === 1 ? `${text}\x07` : `${text}\r`,
    properties: [[0x24_16, 1], [0x66_49, depth, 0, 0, 0], ...(depth > 1 ? [[0x24_4b, 1] as [number, number]] : [])],
  })
  const rowEnd = (depth = 1): OldParagraph => ({
    text: depth === 1 ? '\x07' : '\r',
    properties: [[0x24_16, 1], [0x66_49, depth, 0, 0, 0], depth === 1 ? [0x24_17, 1] : [0x24_4c, 1]],
  })

  it('has rows without known borders, and tables in tables', async () => {
    const paragraphs = [
      [cell('Ship'), cell('Tons'), rowEnd()],
      [cell('Amalia'), cell('1180'), rowEnd()],
      [cell('deck', 2), cell('iron', 2), rowEnd(2), cell('with a table'), cell('960'), rowEnd()],
      [{ text: 'After it.\r' }],
    ].flat()
    expect(await read(oldWord(paragraphs), 'a.doc')).toEqual([
      'Ship: Amalia; Tons: 1180',
      'Ship: deck; iron with a table; Tons: 960',
      'After it.',
    ])
  })

  it('has the results of fields, signs of Windows-1252, and no deleted words', async () => {
    const paragraphs: OldParagraph[] = [
      {
        text: 'See \x13 HYPERLINK "https://example.com" \x14the page\x15 – caf\xe9\x1ebar\x1f.\r'.replace('–', '\x96'),
      },
      { text: 'Forty days.', letters: [[0x08_00, 1]] },
      { text: 'Three\xa0days.\r' },
      { text: 'Page \x13 PAGE \x147\x15\r' },
    ]
    expect(await read(oldWord(paragraphs, { encoding: 'latin1' }), 'a.doc')).toEqual([
      'See the page – café-bar.',
      'Three days.',
      'Page',
    ])
  })

  it('has words below their readings, and large first letters with their word', async () => {
    const paragraphs: OldParagraph[] = [
      { text: '\x13 EQ \\* jc2 \\o\\ad(\\s\\up 9(とうきょう),東京)\x15に行く。\r' },
      { text: 'T\r', properties: [[0x44_2c, 0x19, 0]] },
      { text: 'he lease ends in May.\r' },
    ]
    expect(await read(oldWord(paragraphs), 'a.doc')).toEqual(['東京に行く。', 'The lease ends in May.'])
  })

  it('is told from other documents by its content', async () => {
    const [rtf, html] = [String.raw`{\rtf1 The lease ends in May.}`, '<html><p>The lease ends in May.</p></html>']
    for (const content of [Buffer.from(rtf), Buffer.from(html), docx(paragraph('The lease ends in May.'))])
      expect(await read(content, 'lease.doc')).toEqual(['The lease ends in May.'])
    expect(await read(oldWord([{ text: 'The lease ends in May.\r' }]), 'lease.xls')).toEqual(['The lease ends in May.'])
  })

  it('fails clearly where it cannot be read', async () => {
    const text = [{ text: 'The lease ends in May.\r' }]
    expect(await outcome(oldWord(text, { flags: 0x01_00 }), 'a.doc')).toBe('encrypted')
    expect(await outcome(oldWord(text, { version: 0x2d }), 'a.doc')).toBe('unsupported')
    expect(await outcome(oldWord(text, { copies: 1000 }), 'a.doc')).toBe('damaged')
    expect(await outcome(compoundFile({ WordDocument: Buffer.alloc(10) }), 'a.doc')).toBe('damaged')
    expect(await outcome(compoundFile({}).subarray(0, 600), 'a.doc')).toBe('damaged')
    expect(await outcome(compoundFile({ EncryptedPackage: Buffer.alloc(5000) }), 'a.doc')).toBe('encrypted')
  })
})

describe('a document of Word 6', () => {
  it('is read in the code page of its language, with its tables', async () => {
    // In a table; the end of a row.
    const [cell, end] = [Buffer.of(24, 1), Buffer.of(24, 1, 25, 1)]
    // `Судно`, `Тонны` and `Заря` in Windows-1251.
    const words = ['d1f3e4edee', 'd2eeededfb', 'c7e0f0ff'].map((hex) => Buffer.from(hex, 'hex'))
    const [ship, tons, dawn] = words.map((word) => ({ text: Buffer.concat([word, Buffer.of(7)]), properties: cell }))
    if (!ship || !tons || !dawn) throw new Error('three words')
    const number = { text: Buffer.from('960\x07'), properties: cell }
    const rowEnd = { text: Buffer.of(7), properties: end }
    const paragraphs = [ship, tons, rowEnd, dawn, number, rowEnd, { text: Buffer.from('Below\r') }]
    expect(await read(word6(paragraphs, 0x4_19), 'a.doc')).toEqual(['Судно: Заря; Тонны: 960', 'Below'])
  })
})

describe('a document of Word 95 of Asia', () => {
  it('has letters of two bytes: of its code page, or a pair of it', async () => {
    // `東京` in Shift_JIS is 93 8c 8b 9e.
    const text = Buffer.from('8c939e8b20004f004b000d00', 'hex')
    expect(await read(word6([{ text }], 0x4_11, true), 'a.doc')).toEqual(['東京 OK'])
  })
})

describe('a presentation of PowerPoint 97', () => {
  const words = (...all: [top: number, words: string][]) =>
    all.map(([top, given]) => shape([0, top, 100, top + 50], [text(4, given)]))

  it('has its slides in order, with titles, the order of places, and notes', async () => {
    const slides: OldSlide[] = [
      {
        shapes: [
          ...words([500, 'Below'], [200, 'Above\rof two lines']),
          shape([0, 0, 9, 9], [atom(0x0f_9e, longs(0))]),
        ],
        outline: [text(0, 'Harbour fees')],
        notes: 'Say it slowly.',
      },
      { shapes: words([0, 'Not shown']), isHidden: true },
    ]
    const blocks = []
    for await (const block of extractBlocks(oldSlides(slides), 'a.ppt')) blocks.push(block)
    expect(blocks).toEqual([
      { kind: 'heading', level: 1, text: 'Harbour fees', page: 1 },
      { kind: 'text', text: 'Above', page: 1 },
      { kind: 'text', text: 'of two lines', page: 1 },
      { kind: 'text', text: 'Below', page: 1 },
      { kind: 'text', text: 'Say it slowly.', page: 1 },
      { kind: 'text', text: '(hidden slide)', page: 2 },
      { kind: 'text', text: 'Not shown', page: 2 },
    ])
    const seen = []
    for await (const { text } of extractBlocks(oldSlides(slides), 'a.ppt', { readsHidden: false })) seen.push(text)
    expect(seen).toEqual(blocks.slice(0, -2).map(({ text }) => text))
  })

  it('has tables, alternative texts, and no numbers of slides', async () => {
    const cell = (left: number, top: number, right: number, given: string) =>
      shape([left, top, right, top + 10], [text(4, given)])
    const table = group(
      [
        [cell(0, 0, 50, 'Length'), cell(50, 0, 150, 'Summer')],
        [cell(0, 10, 50, ''), cell(50, 10, 100, 'Day'), cell(100, 10, 150, 'Month')],
        [cell(0, 20, 50, 'up to 8 m'), cell(50, 20, 100, '48'), cell(100, 20, 150, '900')],
      ].flat(),
      true,
    )
    const words97 = Buffer.from('A crane\0', 'utf16le')
    const option = Buffer.alloc(6)
    option.writeUInt16LE(0x83_81, 0)
    option.writeUInt32LE(words97.length, 2)
    const picture = shape([0, 0, 9, 9], [], [atom(0xf0_0b, Buffer.concat([option, words97]), 1)])
    const number = [text(4, 'Slide *'), atom(0x0f_d8, longs(6))]
    const date = container(0xf0_11, [atom(0x0b_c3, Buffer.of(0, 0, 0, 0, 7, 0, 0, 0))])
    const slide = [table, picture, shape([0, 50, 9, 9], number), shape([0, 60, 9, 9], [text(4, 'May 4')], [date])]
    expect(await read(oldSlides([{ shapes: slide }]), 'a.ppt')).toEqual([
      'A crane',
      'Slide',
      'Length: up to 8 m; Summer Day: 48; Summer Month: 900',
    ])
  })

  it('has `10^6`, not `106`', async () => {
    // All of it is one paragraph without properties; then two letters, one above them, and one more.
    const style = Buffer.concat([
      longs(5),
      Buffer.alloc(6),
      longs(2, 0),
      longs(1, 0x8_00_00),
      Buffer.of(30, 0),
      longs(2, 0),
    ])
    const slide = [shape([0, 0, 9, 9], [text(4, '106.'), atom(0x0f_a1, style)])]
    expect(await read(oldSlides([{ shapes: slide }]), 'a.ppt')).toEqual(['10^6.'])
  })

  it('is read where its list of edits runs in a circle', async () => {
    for (const previous of [8, 0x7f_ff_ff_ff])
      expect(await read(oldSlides([{ shapes: words([0, 'The fees']) }], { previous }), 'a.ppt')).toEqual(['The fees'])
    expect(await read(oldSlides([{ shapes: words([0, 'The fees']) }]), 'deck.pps')).toEqual(['The fees'])
  })

  it('fails clearly where it cannot be read', async () => {
    const slides = [{ shapes: words([0, 'The fees']) }]
    expect(await outcome(oldSlides(slides, { token: 0xf3_d1_c4_df }), 'a.ppt')).toBe('encrypted')
    expect(await outcome(compoundFile({ 'PowerPoint Document': Buffer.alloc(600) }), 'a.ppt')).toBe('damaged')
    let deep = shape([0, 0, 9, 9], [text(4, 'deep')])
    for (let depth = 0; depth < 2000; depth++) deep = group([deep])
    expect(await outcome(oldSlides([{ shapes: [deep] }]), 'a.ppt')).toBe('no_text')
  })
})

const damagedOnes = ['berth-libreoffice.doc', 'harbour.doc']

describe('a workbook of Excel 97', () => {
  it('whose chain of sectors is a circle is read or refused at once', async () => {
    const stream = openCompoundFile(await fixture('ships.xls')).stream('Workbook') ?? Buffer.alloc(0)
    const file = compoundFile({ Workbook: Buffer.concat([stream, Buffer.alloc(4000)]) })
    const [table, folder, sector] = [512, 1024, 512]
    const first = file.readUInt32LE(folder + 128 + 116)
    const last = first + Math.ceil((stream.length + 4000) / sector) - 1
    file.writeUInt32LE(first, table + last * 4)
    expect((await read(file, 'ships.xls')).at(-1)).toBe('Ship: Nordstern; Tons: 960; Captain: Øver;gård')
    file.writeUInt32LE(first + 1, folder + 128 + 116)
    expect(await outcome(file, 'ships.xls')).toBe('damaged')
  })

  it('has the values of formulas that are written with the names of columns', async () => {
    const stream = openCompoundFile(await fixture('ships.xls')).stream('Workbook') ?? Buffer.alloc(0)
    const number = stream.indexOf(Buffer.from('7e020a0001000100', 'hex'))
    const formula = Buffer.alloc(32)
    formula.set([0x06, 0x00, 28, 0])
    stream.copy(formula, 4, number + 4, number + 10)
    formula.writeDoubleLE(1180, 10)
    // A token PtgElfLel.
    formula.set([6, 0, 0x18, 0x01, 0, 0, 0, 0], 24)
    const changed = Buffer.concat([stream.subarray(0, number), formula, stream.subarray(number + 14)])
    const file = compoundFile({ Workbook: Buffer.concat([changed, Buffer.alloc(4000)]) })
    expect((await read(file, 'ships.xls')).slice(1)).toEqual([
      'Ship: Amalia; Tons: 1180; Captain: Brandt',
      'Ship: Nordstern; Tons: 960; Captain: Øver;gård',
    ])
  })
})

describe('a mail of Outlook', () => {
  it('that is a page is read in the code page that it names', async () => {
    // The library looks for shorter streams where small ones are.
    const properties = Buffer.alloc(4096)
    properties.writeUInt32LE(0x3f_de_00_03, 32)
    properties.writeUInt32LE(1251, 40)
    const page = Buffer.alloc(4096, '<p>______</p> ')
    page.set([0xc3, 0xe0, 0xe2, 0xe0, 0xed, 0xfc], 3)
    page.fill(' ', 13)
    const file = compoundFile({ '__properties_version1.0': properties, '__substg1.0_10130102': page })
    expect(await outcome(file, 'a.msg')).toBe('Гавань')
  })
})

describe.each(damagedOnes)('%s', (name) => {
  it('gives text or says that it is damaged, wherever it is cut', async () => {
    const whole = await fixture(name)
    for (let length = 512; length < whole.length; length += 512) await outcome(whole.subarray(0, length), name)
  })

  it('gives text or says that it is damaged, whatever byte is another', async () => {
    const whole = await fixture(name)
    const sample = Math.ceil(whole.length / 300)
    for (let at = 0; at < whole.length; at += sample) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ (at % 2 === 0 ? 0xff : 0x01)
      await outcome(changed, name)
    }
  })
})
