import { describe, expect, it } from 'vitest'
import { composes } from '../../web/src/lib/composes.ts'
import { type Root, htmlAsText, numberColumns } from '../../web/src/lib/markdown/answer-tree.ts'
import { spokenBeginningOf, spokenTextOf } from '../../web/src/lib/spoken-text.ts'
import { csvOf, markdownTableOf, pastedCells } from '../../web/src/lib/written-tables.ts'

const raw = (value: string) => {
  const tree = JSON.parse(JSON.stringify({ type: 'root', children: [{ type: 'raw', value }] })) as Root
  htmlAsText()(tree)
  return tree.children.map((node) => (node.type === 'text' ? node.value : node.type === 'element' ? node.tagName : '?'))
}

describe('HTML in an answer', () => {
  it.each([
    ['a<br/>b', ['a', 'br', 'b']],
    ['<div class="x">kept</div>', ['kept']],
    ['<invoice id="1">kept</invoice>', ['<invoice id="1">', 'kept</invoice>']],
    ['<!-- gone -->kept', ['kept']],
    ['<<b', ['<<b']],
  ])('%j is shown as text', (html, shown) => expect(raw(html)).toEqual(shown))

  it('is read in one pass', () => {
    const html = '<a'.repeat(100_000)
    expect(raw(html)).toEqual([html])
  })
})

describe('a table', () => {
  const columnOf = (texts: string[], align?: string) => {
    const cell = (tagName: string, value: string) => ({
      type: 'element',
      tagName: 'tr',
      properties: {},
      children: [{ type: 'element', tagName, properties: { align }, children: [{ type: 'text', value }] }],
    })
    const parts = [
      { type: 'element', tagName: 'thead', properties: {}, children: [cell('th', 'Head')] },
      { type: 'element', tagName: 'tbody', properties: {}, children: texts.map((value) => cell('td', value)) },
    ]
    const tree = { type: 'root', children: [{ type: 'element', tagName: 'table', properties: {}, children: parts }] }
    numberColumns()(tree as Root)
    return /"className":\["(\w+)"\]/.exec(JSON.stringify(tree))?.[1]
  }
  it.each([
    [['1,234.50', '−3', ''], true],
    [['12.5 %', '–'], true],
    [['€12', '830.500,00 €', 'EUR 7'], true],
    [['12 kg', '3 m²'], true],
    [['2026-11-28'], true],
    [['12', 'about 3'], false],
    [['', ''], false],
  ])('has numbers to the right: %j %s', (texts, isNumbers) => {
    expect(columnOf(texts)).toBe(isNumbers ? 'number' : undefined)
    // Aligned by its author, it stays so, and stays whole.
    expect(columnOf(texts, 'center')).toBe(isNumbers ? 'unbroken' : undefined)
  })

  it('is written as Markdown and CSV, without formulas', () => {
    const rows = [
      ['A|B', 'C'],
      ['=1+1', '-2'],
      ['-2+3', 'a\n"b"'],
    ]
    expect(markdownTableOf(rows)).toBe('| A\\|B | C |\n| --- | --- |\n| =1+1 | -2 |\n| -2+3 | a "b" |')
    expect(csvOf(rows)).toBe('A|B,C\r\n\'=1+1,-2\r\n\'-2+3,"a\n""b"""')
  })

  it('comes from the cells of a spreadsheet, a picture does not', () => {
    const clipboard = (text: string, html: string) => ({
      getData: (type: string) => (type === 'text/plain' ? text : html),
    })
    expect(pastedCells(clipboard('Name\tSum\r\nBerth\t48\r\n', '<html><table border=0>'))).toBe(
      '| Name | Sum |\n| --- | --- |\n| Berth | 48 |\n',
    )
    expect(pastedCells(clipboard('', '<img src="a.png">'))).toBeUndefined()
    expect(pastedCells(clipboard('a\tb', ''))).toBeUndefined()
  })
})

it('a key of an input method is known by its key code in Safari', () => {
  const key = (isComposing: boolean, keyCode: number) => composes({ isComposing, keyCode })
  expect([key(true, 13), key(false, 229), key(false, 13)]).toEqual([true, true, false])
})

describe('what is heard of an answer', () => {
  it('has no marks, addresses or code', () => {
    const written =
      '## Berths\n\n- A **berth** [costs](https://harbour.example) 48 marks [1].\n\n```ts\nlet a = 1\n```\nThat is all.'
    expect(spokenTextOf(written).split(/\s+/).join(' ')).toBe('Berths A berth costs 48 marks . … That is all.')
  })

  it('is made of its beginning alone for the announcement, and of no text in the square of its length', () => {
    expect(spokenBeginningOf('Words. '.repeat(100_000))).toBe('Words. '.repeat(200).slice(0, 1000))
    const before = performance.now()
    for (const piece of ['[', '[a](', '![', '**', '``` '])
      expect(spokenTextOf(piece.repeat(100_000)).length).toBeLessThan(400_001)
    expect(performance.now() - before).toBeLessThan(3000)
  })
})
