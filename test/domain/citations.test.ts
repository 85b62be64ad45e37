import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CitedFile, citationsIn, citedFilesOf } from '../../domain/knowledge/citations.ts'
import type { Message } from '../../domain/messages.ts'

const file = (name: string, pages: number[] = [], headings: string[] = []): CitedFile => ({
  id: `id of ${name}`,
  name,
  pages: new Set(pages),
  labels: new Map(),
  headings: new Set(headings),
})

function result(content: unknown, name = 'retrieval'): Message {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return { type: 'ToolMessage', data: { id: 'm', content: text, name, tool_call_id: 'c' } }
}
const filesIn = (...messages: Message[]) =>
  citedFilesOf(
    new Set(['run']),
    messages.map((message) => ({ message, runId: 'run' })),
  ).get('run') ?? []

it('pages are cited by what their document calls them, too', () => {
  const pages = [
    { page: 4, label: 'iv' },
    { page: 9, label: '3' },
  ]
  const files = filesIn(result({ passages: [{ file_id: 'f', file_name: 'guide.pdf', pages }] }))
  const answer = 'So it is (guide.pdf, page iv), (guide.pdf, p. iv), (guide.pdf, page 9), not (guide.pdf, page 3).'
  expect(citationsIn(answer, files).map(({ page }) => page)).toEqual([4, 4, 9])
})

describe('the citations of an answer', () => {
  it('are where they stand in it, with the page that they name', () => {
    const label = fc.constantFrom(
      { text: '(guide.pdf, page 3)', page: 3 },
      { text: '(guide.pdf, pages 4–5)', page: 4 },
      { text: '(guide.pdf, pages 4-5)', page: 4 },
      { text: '(guide.pdf, Fees (2026))', page: undefined },
      { text: '(guide.pdf)', page: undefined },
      { text: '(guide (old).pdf, page 3)', page: 3 },
    )
    const words = fc.constantFrom(
      'The fee (twelve marks) is due ',
      '((',
      '(guide.pdf, page 9) ',
      '(guide.pdf, ',
      '👩‍👩‍👧 ',
      '',
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(words, label)), (parts) => {
        const answer = parts.map(([before, { text }]) => before + text).join(' ')
        const files = [file('guide.pdf', [3, 4], ['Fees (2026)']), file('guide (old).pdf', [3])]
        const found = citationsIn(answer, files)
        expect(found.map(({ text, page }) => ({ text, page }))).toEqual(parts.map(([, one]) => one))
        for (const { text, start, end } of found) expect(answer.slice(start, end)).toBe(text)
      }),
    )
  })

  it('are of files and pages that the run has found only', () => {
    const passages = [
      { file_id: 'a', file_name: 'guide.pdf', page: 3, last_page: 5, pages: [{ page: 3 }, { page: 5 }], text: 'Fees' },
      // Of a file that an earlier version has processed.
      { file_id: 'b', file_name: 'old.pdf', page: 7, text: 'Hours' },
    ]
    const files = filesIn(
      result({ passages }),
      result({ passages: [{ file_id: 'c', file_name: 'x' }] }, 'http_request'),
    )
    const answer = '(guide.pdf, page 3) (guide.pdf, page 4) (guide.pdf, page 5) (old.pdf, page 7) (other.pdf) (x)'
    expect(citationsIn(answer, files).map(({ fileId, page }) => [fileId, page])).toEqual([
      ['a', 3],
      ['a', 5],
      ['b', 7],
    ])
    expect(citedFilesOf(new Set(['other']), [{ message: result({ passages }), runId: 'run' }]).size).toBe(0)
    expect(citedFilesOf(new Set(['run']), [{ message: result({ passages }), runId: undefined }]).size).toBe(0)
  })

  it('are not looked for in results that hold too much, or are none', () => {
    const passage = { file_id: 'a', file_name: 'guide.pdf', page: 3 }
    const deep = `{"passages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const many = `{"passages":[${'[],'.repeat(150_000)}{}]}`
    const large = JSON.stringify({ passages: [{ ...passage, text: 'x'.repeat(600_000) }] })
    for (const content of [deep, many, large, '{"passages"', '{"passages":[1,null,{"file_id":{}}]}', '{"passages":7}'])
      expect(filesIn(result(content))).toEqual([])
    const results = Array.from({ length: 60 }, (_, index) =>
      result({ passages: [{ ...passage, file_id: `${index}`, text: 'x'.repeat(100_000) }] }),
    )
    // The newest four megabytes.
    expect(filesIn(...results).map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 41 }, (_, index) => 59 - index),
    )
  })

  it('are looked for until an answer has taken as many comparisons as any needs', () => {
    const files = Array.from({ length: 100 }, (_, index) => file(`${'('.repeat(index)}x`, [1]))
    expect(citationsIn('('.repeat(2_000_000), files)).toEqual([])
    expect(citationsIn(`${'('.repeat(2_000_000)}x)`, files)).toEqual([])
    expect(citationsIn(`${'('.repeat(500)}x)`, files).length).toBeGreaterThan(0)
  })
})
