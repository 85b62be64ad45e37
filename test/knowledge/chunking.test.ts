import fc from 'fast-check'
import { countTokens as countByLibrary } from 'gpt-tokenizer/encoding/cl100k_base'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../domain/chunking/block.ts'
import { type ChunkerOptions, maxChunkCharacters, maxChunkTokens } from '../../domain/chunking/chunker-options.ts'
import { createChunker } from '../../domain/chunking/chunker.ts'
import { countTokens, tokenWindowCharacters } from '../../domain/chunking/count-tokens.ts'
import { searchedText } from '../../services/knowledge/chunk-texts.ts'

function chunk(blocks: Block[], options: ChunkerOptions = { maxTokens: 60, overlapTokens: 15 }) {
  const chunker = createChunker(options)
  return [...blocks.flatMap((block) => chunker.push(block)), ...chunker.flush()]
}

const sentence = (index: number) => `Sentence number ${index} says a little about the harbour.`
const sentences = (count: number) => Array.from({ length: count }, (_, index) => sentence(index)).join(' ')

describe('chunking', () => {
  it('cuts after sentences, with overlap and without loss', () => {
    const chunks = chunk([{ kind: 'text', text: sentences(40) }])
    expect(chunks.length).toBeGreaterThan(5)
    for (const { text, tokens } of chunks) {
      expect(text).toMatch(/^Sentence number .*harbour\.$/s)
      expect(tokens).toBeLessThanOrEqual(60)
      expect(countTokens(text)).toBeLessThanOrEqual(60)
    }
    for (let index = 0; index < 40; index++)
      expect(chunks.some(({ text }) => text.includes(sentence(index)))).toBe(true)
    for (const [index, { text }] of chunks.slice(1).entries()) {
      const first = text.split('. ')[0] ?? ''
      expect(chunks[index]?.text).toContain(first)
    }
    expect(chunks.reduce((sum, { newCharacters }) => sum + newCharacters, 0)).toBe(sentences(40).length + 2)
  })

  it('does not end inside a row of a table', () => {
    const row = (number: number): Block => ({
      kind: 'row',
      text: `Ship: Amalia ${number}; Note: She is slow. She is old. She is sold; Port: Kiel`,
    })
    const chunks = chunk(Array.from({ length: 12 }, (_, index) => row(index)))
    expect(chunks.length).toBeGreaterThan(3)
    for (const { text } of chunks) for (const line of text.split('\n')) expect(line).toMatch(/^Ship: .* Port: Kiel$/)
  })

  it('names the rows of a sheet and the labels of pages, and where each begins', () => {
    const rows: Block[] = [14, 15, 17].map((row) => ({ kind: 'row', text: `Item ${row}`, sheet: 'Budget', row }))
    const [first] = chunk([...rows, { kind: 'row', text: 'Other 2', sheet: 'Plan', row: 2 }])
    expect(first?.text).toBe('Item 14\nItem 15\nItem 17\nOther 2')
    expect(first?.sheets).toEqual([
      { sheet: 'Budget', rows: [14, 15, 17], starts: [0, 8, 16] },
      { sheet: 'Plan', rows: [2], starts: [24] },
    ])
    const [page] = chunk([{ kind: 'text', text: 'Preface.', page: 2, label: 'ii' }])
    expect(page?.pages).toEqual([{ page: 2, label: 'ii', sentences: [0] }])
  })

  it('begins a new chunk with a new section, and names the headings above it', () => {
    const chunks = chunk([
      { kind: 'heading', level: 1, text: 'Harbour' },
      { kind: 'heading', level: 2, text: 'Ships' },
      { kind: 'text', text: sentences(4) },
      { kind: 'heading', level: 2, text: 'Costs' },
      { kind: 'text', text: 'The dredging was dear.' },
    ])
    expect(chunks.map(({ heading }) => heading)).toEqual(['Harbour > Ships', 'Harbour > Costs'])
    expect(chunks[0]?.text).toMatch(/^Harbour\nShips\nSentence/)
    expect(chunks[1]?.text).toBe('Costs\nThe dredging was dear.')
  })

  it('names what stands above rows that are in another chunk', () => {
    const row = (number: number): Block => ({ kind: 'row', text: `Ship: Amalia ${number}; Port: Kiel; Note: slow` })
    const rows = Array.from({ length: 14 }, (_, index) => row(index))
    const table: Block[] = [{ kind: 'text', text: 'Table 3: Ships of 1912' }, ...rows]
    const chunks = chunk([...table, { kind: 'text', text: sentences(3) }, row(99)])
    expect(chunks.length).toBeGreaterThan(3)
    // The first has the words itself; after a long text there are none.
    const [first, second] = chunks
    expect(first).not.toHaveProperty('caption')
    expect(second?.caption).toBe('Table 3: Ships of 1912')
    expect(second?.text).not.toContain('Table 3')
    expect(searchedText({ name: 'fleet.pdf' }, second ?? { text: '' })).toMatch(/^fleet\nTable 3: Ships of 1912\nShip/)
    const own = chunk(rows.map((one) => ({ ...one, caption: 'All ships' })))
    expect(own.map(({ caption }) => caption)).toEqual(own.map(() => 'All ships'))
  })

  it('puts short sections into one chunk, and never ends a chunk with a heading', () => {
    const short = chunk([
      { kind: 'heading', level: 1, text: 'A' },
      { kind: 'text', text: 'One.' },
      { kind: 'heading', level: 1, text: 'B' },
      { kind: 'text', text: 'Two.' },
    ])
    expect(short).toHaveLength(1)
    expect(short[0]).toMatchObject({ text: 'A\nOne.\n\nB\nTwo.', heading: 'A' })
    const long = chunk([
      { kind: 'text', text: 'Short start.' },
      { kind: 'heading', level: 1, text: 'A heading' },
      { kind: 'text', text: sentences(6) },
    ])
    for (const { text } of long) expect(text.endsWith('A heading')).toBe(false)
  })

  it('keeps rows whole', () => {
    const rows = Array.from({ length: 30 }, (_, index): Block => ({
      kind: 'row',
      text: `Ship: S${index}; Tons: ${index * 10}`,
    }))
    for (const { text } of chunk(rows))
      for (const line of text.split('\n')) expect(line).toMatch(/^Ship: S\d+; Tons: \d+$/)
  })

  it('records the page of each sentence, also of those that a chunk repeats', () => {
    const chunks = chunk([
      { kind: 'text', text: sentences(2), page: 1 },
      { kind: 'text', text: sentences(5), page: 2 },
      { kind: 'text', text: 'The end.', page: 3 },
    ])
    const shown = chunks.map(({ text, pages = [] }) =>
      pages.map(({ page, sentences: begins }) => [page, begins.map((begin) => text.slice(begin, begin + 19))]),
    )
    const numbered = (...numbers: number[]) => numbers.map((number) => `Sentence number ${number} s`)
    expect(shown).toEqual([
      [[1, numbered(0, 1)]],
      [
        [1, numbered(1)],
        [2, numbered(0, 1, 2, 3)],
      ],
      [
        [2, numbered(3, 4)],
        [3, ['The end.']],
      ],
    ])
  })

  it('counts lines that go on as one sentence, and headings, rows and lines with a capital as one each', () => {
    const blocks: Block[] = [
      { kind: 'heading', level: 1, text: 'Leave', page: 3 },
      { kind: 'text', text: '  Sick leave is\ngranted at once. Ask your\ndoctor.\nHolidays\nTwenty days.', page: 3 },
      { kind: 'row', text: 'Days: 20; Kind: paid', page: 4 },
    ]
    const [first] = chunk(blocks, { maxTokens: 400, overlapTokens: 50 })
    const begins = (first?.pages ?? []).map(({ page, sentences: all }) => [
      page,
      all.map((begin) => first?.text.slice(begin).split(' ')[0]?.split('\n')[0]),
    ])
    expect(begins).toEqual([
      [3, ['Leave', 'Sick', 'Ask', 'Holidays', 'Twenty']],
      [4, ['Days:']],
    ])
  })

  it('names the right page for every sentence of any document, with any options', () => {
    const word = fc.constantFrom('harbour', 'ships', 'Öl', '漢字', 'x'.repeat(700), 'tide,', '(quay)', '👩‍👩‍👧')
    const between = fc.constantFrom(' ', '\n', '  ', '\n\n')
    const saying = fc.array(fc.tuple(word, between), { minLength: 1, maxLength: 30 })
    const block = fc.record({
      kind: fc.constantFrom('text', 'row', 'code', 'heading'),
      sentences: fc.array(saying, { minLength: 1, maxLength: 6 }),
      turns: fc.boolean(),
      indent: fc.constantFrom('', '  ', '\n\n'),
    })
    const options = fc.record({
      maxTokens: fc.integer({ min: 20, max: 400 }),
      overlapTokens: fc.integer({ min: 0, max: 60 }),
    })
    const property = fc.property(fc.array(block, { maxLength: 12 }), options, (given, chosen) => {
      let page = 1
      const blocks = given.map(({ kind, sentences: parts, turns, indent }): Block => {
        if (turns) page++
        // A sentence of source code is a line.
        const text = (kind === 'code' ? parts.slice(0, 1) : parts)
          .map((words, index) => `P${page}S${index} ${words.map(([one, gap]) => one + gap).join('')}ends. `)
          .join('')
        return kind === 'heading'
          ? { kind, level: 1, text: `P${page} heading`, page }
          : { kind: kind as 'text', text: indent + text, page }
      })
      for (const { text, pages = [] } of chunk(blocks, chosen)) {
        const begins = pages.flatMap(({ page: number, sentences: all }) => all.map((begin) => ({ begin, number })))
        const pageAt = (place: number) => begins.findLast(({ begin }) => begin <= place)?.number
        for (const { begin } of begins) expect(text.slice(begin, begin + 1)).toMatch(/\S/)
        const offsets = begins.map(({ begin }) => begin)
        expect(offsets).toEqual([...new Set(offsets)].toSorted((a, b) => a - b))
        const numbers = pages.map(({ page: number }) => number)
        expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
        for (const match of text.matchAll(/P(\d+)(?:S\d+| heading)/g)) {
          expect(pageAt(match.index)).toBe(Number(match[1]))
          expect(offsets).toContain(match.index)
        }
      }
    })
    fc.assert(property, { numRuns: 300 })
  })

  it.each([
    ['Chinese without a space', '漢字仮名交'.repeat(20_000)],
    ['one endless word', 'x'.repeat(100_000)],
    ['emoji', '👩‍👩‍👧'.repeat(10_000)],
    ['dots', '.'.repeat(100_000)],
  ])('chunks %s quickly and splits no character', (_what, text) => {
    const chunks = chunk([{ kind: 'text', text }], { maxTokens: 400, overlapTokens: 50 })
    expect(chunks.length).toBeGreaterThan(1)
    for (const { text: piece, tokens } of chunks) {
      expect(tokens).toBeLessThanOrEqual(400)
      expect(piece.isWellFormed()).toBe(true)
    }
    expect(chunks.reduce((sum, { newCharacters }) => sum + newCharacters, 0)).toBe(text.length + 2)
  })

  it('keeps large chunks of long tokens below the characters that a record can hold', () => {
    const options = { maxTokens: maxChunkTokens, overlapTokens: 100 }
    const line = `x${' '.repeat(900)}y`
    const chunks = chunk([{ kind: 'text', text: `${line}\n`.repeat(600) }], options)
    expect(countTokens(line) * 150).toBeLessThan(maxChunkTokens)
    expect(chunks.length).toBeGreaterThan(5)
    for (const { text } of chunks) expect(text.length).toBeLessThanOrEqual(maxChunkCharacters)
  })

  it('is deterministic', () => {
    const blocks: Block[] = [{ kind: 'text', text: sentences(100) }]
    expect(chunk(blocks)).toEqual(chunk(blocks))
  })
})

describe('the number of tokens', () => {
  it('is that of the library for any text of one window', () => {
    const odd = [
      '  ',
      '\n',
      '\r\n',
      "'s",
      "'LL",
      '\u00a0',
      '\u3000',
      '\u0301',
      '\ud800',
      '\udc00',
      '<|endoftext|>',
      '漢',
    ]
    const piece = fc.oneof(
      fc.constantFrom(...odd, 'word', ' another', 'Incomprehensibilities', '1234', '!!'),
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.string({ maxLength: 20 }),
    )
    const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('').slice(0, tokenWindowCharacters))
    const property = fc.property(text, (given) => {
      expect(countTokens(given)).toBe(countByLibrary(given, { disallowedSpecial: new Set() }))
    })
    fc.assert(property, { numRuns: 2000 })
  })
})
