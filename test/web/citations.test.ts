import { expect, it } from 'vitest'
import { citationsIn, withoutHalfCitation } from '../../web/src/lib/citations.ts'
import { rowsOf } from '../../web/src/lib/delimited.ts'
import { shortName } from '../../web/src/lib/names.ts'
import { type Passage, parsePassages } from '../../web/src/lib/passages.ts'
import { pagesOf, placeOf } from '../../web/src/lib/places.ts'
import { flowing } from '../../web/src/lib/sentences.ts'

const passage = (more: Partial<Passage>): Passage => ({ file_name: 'guide.pdf', text: 'Words.', score: 1, ...more })
const text = 'Berths cost 12 marks. Cranes cost 80 marks. Ice closes the harbour.'
const onTwoPages = passage({
  page: 3,
  last_page: 4,
  text,
  pages: [
    { page: 3, sentences: [0, 22] },
    { page: 4, sentences: [44] },
  ],
})

it('pages have the names that their document gives them, and rows of sheets their numbers', () => {
  const labelled = passage({ page: 12, pages: [{ page: 12, label: 'xii', sentences: [0] }] })
  const { texts, sources } = citationsIn(['So (guide.pdf, page xii), and (guide.pdf, page 12).'], [labelled])
  expect(texts).toEqual(['So[1](#source-0), and[2](#source-1).'])
  expect(sources.map((source) => placeOf(source))).toEqual(['p. xii', 'p. xii'])
  const rows = {
    text: 'Item: Oil; Price: 3\nItem: Tar; Price: 4',
    sheets: [{ sheet: 'Budget', rows: [13, 14], starts: [0, 20] }],
  }
  const table = passage({ ...rows, file_name: 'b.xlsx', heading: 'Budget' })
  const cited = citationsIn(['Tar costs 4 (b.xlsx, Budget).'], [table]).sources
  expect(cited.map((source) => placeOf(source))).toEqual(['Budget, row 14'])
})

it('citations become numbered marks, each with the sentence that the answer means', () => {
  const notes = passage({ file_name: 'notes (1).md', heading: 'Winter', text: 'Boats rest.\nSalt helps.' })
  const answers = [
    'A crane costs 80 marks (guide.pdf, page 3). In winter it closes (guide.pdf, page 4; notes (1).md, Winter).',
    'As I said: 12 marks a berth (guide.pdf, page 3), see (elsewhere.pdf, page 1) and salt (notes (1).md).',
  ]
  const { texts, marks, sources } = citationsIn(answers, [onTwoPages, notes])
  expect(texts).toEqual([
    'A crane costs 80 marks[1](#source-0). In winter it closes[2](#source-1)[3](#source-2).',
    'As I said: 12 marks a berth[1](#source-3), see (elsewhere.pdf, page 1) and salt[4](#source-4).',
  ])
  expect(marks.map(({ quote }) => quote)).toEqual([
    'Cranes cost 80 marks.',
    'Ice closes the harbour.',
    expect.any(String),
    'Berths cost 12 marks.',
    'Salt helps.',
  ])
  expect(sources.map((source) => placeOf(source))).toEqual(['p. 3', 'p. 4', 'Winter', 'Winter'])
  expect(citationsIn(['Nothing is cited.'], [onTwoPages])).toEqual({
    texts: ['Nothing is cited.'],
    marks: [],
    sources: [],
  })
})

it('ranges of pages, and passages of an earlier version, are cited too', () => {
  const [old] = parsePassages(JSON.stringify({ passages: [passage({ page: 3 })] }))
  expect(old && pagesOf(old)).toBe('p. 3')
  expect(citationsIn(['A (guide.pdf, page 3).'], old ? [old] : []).texts).toEqual(['A[1](#source-0).'])
  expect(citationsIn(['A (guide.pdf, pages 3–4).'], [onTwoPages]).texts).toEqual(['A[1](#source-0).'])
  expect(pagesOf(passage({}))).toBeUndefined()
})

it('a citation that is only half written is not shown', () => {
  expect(withoutHalfCitation('It costs 12 (guide.pdf, pa', [onTwoPages])).toBe('It costs 12')
  expect(withoutHalfCitation('It costs 12 (gui', [onTwoPages])).toBe('It costs 12')
  expect(withoutHalfCitation('It costs 12 (about', [onTwoPages])).toBe('It costs 12 (about')
  expect(withoutHalfCitation('It (guide.pdf, page 3)', [onTwoPages])).toBe('It (guide.pdf, page 3)')
})

it('text of a page flows, names are shortened in their middle, and tables are read', () => {
  expect(flowing('Report\nThe dredging of the western\nbasin was dear.\n\nThe end')).toBe(
    'Report\nThe dredging of the western basin was dear.\n\nThe end',
  )
  expect(shortName('a-very-long-name-of-a-report-of-the-harbour-2024.pdf', 20)).toBe('a-very-long…2024.pdf')
  expect(shortName('short.pdf', 20)).toBe('short.pdf')
  expect(rowsOf('name;fee\r\n"Pier; ""A""";12\n\nQuay;7')).toEqual([
    ['name', 'fee'],
    ['Pier; "A"', '12'],
    ['Quay', '7'],
  ])
})
