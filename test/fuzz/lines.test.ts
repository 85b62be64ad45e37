import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ExtractionLine, parseLine } from '../../infra/extract/messages.ts'
import { linesOf } from '../../infra/lines.ts'
import { cutAt, cuts, oddText } from './pieces.ts'
import { cases } from './settings.ts'

const linesFrom = async (pieces: Uint8Array[], maxCharacters?: number) => {
  const source = (async function* () {
    for (const piece of pieces) yield Buffer.from(piece)
  })()
  return Array.fromAsync(linesOf(source, maxCharacters === undefined ? {} : { maxCharacters }))
}

/** The pages of a text, with a sentence each; undefined of a text without pages. */
const pagesOf = (text: string) =>
  fc
    .uniqueArray(fc.nat({ max: Math.max(0, text.length - 1) }), { maxLength: 5 })
    .map((places) => places.toSorted((a, b) => a - b).map((place, index) => ({ page: index + 1, sentences: [place] })))
    .map((pages) => (pages.length === 0 || text === '' ? undefined : pages))

const line: fc.Arbitrary<ExtractionLine> = fc.oneof(
  fc
    .record(
      { text: oddText, tokens: fc.nat(), newCharacters: fc.nat(), heading: oddText },
      { requiredKeys: ['text', 'tokens', 'newCharacters'], noNullPrototype: true },
    )
    .chain((chunk) => pagesOf(chunk.text).map((pages) => ({ chunk: { ...chunk, ...(pages && { pages }) } }))),
  fc.record({ end: fc.record({ contentType: fc.string({ maxLength: 100 }) }) }),
  fc.record({
    failed: fc.record({ reason: fc.constantFrom('damaged' as const, 'too_large' as const), message: oddText }),
  }),
)

describe("the line protocol of files' readers", () => {
  it('returns every answer wherever the pipe splits it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), cuts, async (answers, places) => {
        const text = answers.map((answer) => `${JSON.stringify(answer)}\n`).join('')
        const read = await linesFrom(cutAt(new TextEncoder().encode(text), places))
        expect(read.map(parseLine)).toEqual(answers.map((answer) => JSON.parse(JSON.stringify(answer))))
      }),
      cases(),
    )
  })

  it('accepts nothing else from a reader, and never throws', async () => {
    const shape = fc.record(
      { chunk: fc.anything(), end: fc.anything(), failed: fc.anything() },
      { requiredKeys: [], noNullPrototype: true },
    )
    const written = fc.oneof(
      oddText,
      fc.json(),
      shape.map((value) => safeJson(value)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(written, { maxLength: 5 }), cuts, async (texts, places) => {
        const read = await linesFrom(cutAt(new TextEncoder().encode(texts.join('\n')), places))
        const answers = read.map(parseLine).filter((answer) => answer !== undefined)
        expect(answers.filter((answer) => !isSound(answer))).toEqual([])
      }),
      cases(),
    )
  })

  it.each([
    ['none', []],
    ['one without sentences', [{ page: 1, sentences: [] }]],
    ['a sentence behind the text', [{ page: 1, sentences: [0, 5] }]],
    [
      'sentences that do not ascend',
      [
        { page: 1, sentences: [3] },
        { page: 2, sentences: [3] },
      ],
    ],
    ['a place that is no number', [{ page: 1, sentences: ['0'] }]],
    ['a page that is no number', [{ page: '1', sentences: [0] }]],
    ['more sentences than a chunk has', [{ page: 1, sentences: Array.from({ length: 2000 }, (_, index) => index) }]],
    ['no list', { page: 1 }],
  ])('accepts no chunk with pages that cannot be: %s', (_what, pages) => {
    const chunk = { text: 'Words', tokens: 1, newCharacters: 5 }
    expect(parseLine(JSON.stringify({ chunk }))).toEqual({ chunk })
    expect(parseLine(JSON.stringify({ chunk: { ...chunk, pages } }))).toBeUndefined()
  })

  it.each([
    ['no object', 5],
    ['more members', { pages: 1, confidence: 90, unreadable_pages: [], __proto: 1 }],
    ['a page that is no number', { pages: 1, confidence: 90, unreadable_pages: ['1'] }],
    ['more pages than are listed', { pages: 1, confidence: 90, unreadable_pages: Array(1001).fill(1) }],
  ])('accepts no end with a scan that cannot be: %s', (_what, scan) => {
    const good = { contentType: 'image/png', scan: { pages: 1, confidence: 90, unreadable_pages: [2] } }
    expect(parseLine(JSON.stringify({ end: good }))).toEqual({ end: good })
    expect(parseLine(JSON.stringify({ end: { ...good, scan } }))).toBeUndefined()
  })

  it('ends a reader whose line is too long, wherever it is split', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(200), cuts, async (length, places) => {
        const pieces = cutAt(new TextEncoder().encode('x'.repeat(length)), places)
        const read = await linesFrom(pieces, 100).then(
          (lines) => lines.join('').length,
          (error: unknown) => String(error),
        )
        expect(read).toBe(length > 100 ? 'Error: A line is longer than 100 characters.' : length)
      }),
      cases(100),
    )
  })
})

function isSound(answer: ExtractionLine): boolean {
  if ('chunk' in answer) return typeof answer.chunk.text === 'string'
  if ('scanning' in answer) return answer.scanning
  if ('links' in answer) return answer.links.every((link) => typeof link === 'string')
  if ('html' in answer) return typeof answer.html === 'string'
  if ('page' in answer) return typeof answer.page.kind === 'string'
  return 'end' in answer ? answer.end.contentType.length <= 200 : typeof answer.failed.message === 'string'
}

function safeJson(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member)) ?? ''
    )
  } catch {
    return '{"chunk":'
  }
}
