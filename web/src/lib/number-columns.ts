import type { Element, ElementContent, Root } from 'hast'

/** Amounts, shares, years, dates of digits, with signs and units before or after: 1,234.50 · −3 % · €12 · 2026-11-28. */
const number =
  /^[−–+-]?\s?(?:[€$£¥]|[A-Z]{3})?\s?[−–+-]?\d[\d.,’'\u00A0\u202F -]*\s?(?:%|‰|[€$£¥]|[A-Z]{3}|[a-zµ°]{1,3}[²³]?)?$/u
const none = new Set(['', '-', '–', '—', 'n/a', 'N/A'])

/** Marks the cells of columns of numbers, whose author set no alignment, with the class `number` (a rehype plugin). */
export function numberColumns() {
  return (tree: Root): void => visitTables(tree.children, markTable)
}

function visitTables(nodes: (Root['children'][number] | ElementContent)[], visit: (table: Element) => void): void {
  for (const node of nodes) {
    if (node.type !== 'element') continue
    if (node.tagName === 'table') visit(node)
    else visitTables(node.children, visit)
  }
}

function markTable(table: Element): void {
  const rows = elementsOf(table).flatMap((part) => elementsOf(part).map((row) => elementsOf(row)))
  const body = rows.filter((row) => row[0]?.tagName === 'td')
  for (let column = 0; column < (rows[0]?.length ?? 0); column++) {
    const said = body.map((row) => textOf(row[column]).trim()).filter((text) => !none.has(text))
    if (said.length === 0 || !said.every((text) => text.length < 30 && number.test(text))) continue
    for (const row of rows) {
      const cell = row[column]
      if (cell && cell.properties['align'] === undefined) cell.properties['className'] = ['number']
    }
  }
}

const elementsOf = (node: Element): Element[] => node.children.filter((child) => child.type === 'element')

function textOf(node: ElementContent | undefined): string {
  if (node === undefined) return ''
  if (node.type === 'text') return node.value
  return node.type === 'element' ? node.children.map(textOf).join('') : ''
}
