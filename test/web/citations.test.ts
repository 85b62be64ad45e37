import { expect, it } from 'vitest'
import { type Passage, pagesOf, parsePassages, withCitations } from '../../web/src/lib/passages.ts'

const passage = (more: Partial<Passage>): Passage => ({ file_name: 'guide.pdf', text: 'Words.', score: 1, ...more })

it('every page of a passage, and its range, leads to the passage', () => {
  const pages = [3, 4, 5].map((page, index) => ({ page, sentences: [index] }))
  const passages = [
    passage({ page: 1, last_page: 1, pages: [{ page: 1, sentences: [0] }] }),
    passage({ page: 3, last_page: 5, pages }),
  ]
  const answer = 'A (guide.pdf, page 1), B (guide.pdf, page 4), C (guide.pdf, pages 3–5), D (guide.pdf, page 6).'
  expect(withCitations(answer, passages)).toBe(
    'A [guide.pdf, page 1](#passage-0), B [guide.pdf, page 4](#passage-1), C [guide.pdf, pages 3–5](#passage-1), D (guide.pdf, page 6).',
  )
  expect(passages.map(pagesOf)).toEqual(['page 1', 'pages 3–5'])
})

it('a passage of an earlier version has one page', () => {
  const [old] = parsePassages(JSON.stringify({ passages: [passage({ page: 3 })] }))
  expect(old && pagesOf(old)).toBe('page 3')
  expect(withCitations('A (guide.pdf, page 3).', old ? [old] : [])).toBe('A [guide.pdf, page 3](#passage-0).')
  expect(pagesOf(passage({}))).toBeUndefined()
})
