import type rehypeSanitize from 'rehype-sanitize'
import { defaultSchema } from 'rehype-sanitize'

/** What an answer in Markdown becomes (hast). */
export type Root = Parameters<ReturnType<typeof rehypeSanitize>>[0]
type RootContent = Root['children'][number]
type Element = Extract<RootContent, { type: 'element' }>
type ElementContent = Element['children'][number]

/** HTML in a tree of remark-rehype. */
interface Raw {
  type: 'raw'
  value: string
}

/** HTML that a model wrote: its tags, and comments. */
const tag = /<!--[\s\S]*?-->|<\/?([a-zA-Z][\w-]*)[^<>]*>/g
const knownTags = new Set([
  ...(defaultSchema.tagNames ?? []),
  'font',
  'u',
  'small',
  'mark',
  'center',
  'style',
  'script',
])

/**
 * HTML in an answer becomes text, because none is executed: `<br>` a line break; other tags of HTML go, what stands
 * between them stays; tags of other languages are shown as they are written. A rehype plugin, before the sanitizer,
 * which would drop all of it.
 */
export function htmlAsText() {
  return (tree: Root): void => {
    const replaced = (nodes: (RootContent | Raw)[]): ElementContent[] =>
      nodes.flatMap((node): ElementContent[] => {
        if (node.type === 'raw') return partsOf(node.value)
        if (node.type === 'element') return [{ ...node, children: replaced(node.children) }]
        return node.type === 'doctype' ? [] : [node]
      })
    tree.children = replaced(tree.children)
  }
}

function partsOf(html: string): ElementContent[] {
  const parts: ElementContent[] = []
  let end = 0
  for (const { 0: found, 1: name = '', index } of html.matchAll(tag)) {
    const isShown = name !== '' && !knownTags.has(name.toLowerCase())
    const text = html.slice(end, isShown ? index + found.length : index)
    end = index + found.length
    if (text !== '') parts.push({ type: 'text', value: text })
    if (name.toLowerCase() === 'br') parts.push({ type: 'element', tagName: 'br', properties: {}, children: [] })
  }
  if (end < html.length) parts.push({ type: 'text', value: html.slice(end) })
  return parts
}

const blocks = new Set([
  'p',
  'li',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'blockquote',
  'ul',
  'ol',
  'td',
  'th',
  'dt',
  'dd',
])

/** Each block is written in the direction of its own text; code is written from left to right. A rehype plugin. */
export function ownDirections() {
  const set = (nodes: RootContent[]): void => {
    for (const node of nodes) {
      if (node.type !== 'element') continue
      if (blocks.has(node.tagName)) node.properties['dir'] = 'auto'
      if (node.tagName === 'pre' || node.tagName === 'code') node.properties['dir'] = 'ltr'
      set(node.children)
    }
  }
  return (tree: Root): void => set(tree.children)
}

/** Amounts, shares, years, dates of digits, with signs and units before or after: 1,234.50 · −3 % · €12 · 2026-11-28. */
const number =
  /^[−–+-]?\s?(?:[€$£¥]|[A-Z]{3})?\s?[−–+-]?\d[\d.,’'\u00A0\u202F -]*\s?(?:%|‰|[€$£¥]|[A-Z]{3}|[a-zµ°]{1,3}[²³]?)?$/u
const none = new Set(['', '-', '–', '—', 'n/a', 'N/A'])

/**
 * Marks the cells of columns of numbers with the class `number`, or `unbroken` where the author set the alignment (a
 * rehype plugin).
 */
export function numberColumns() {
  return (tree: Root): void => visitTables(tree.children, markTable)
}

function visitTables(nodes: RootContent[], visit: (table: Element) => void): void {
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
      if (cell) cell.properties['className'] = [cell.properties['align'] === undefined ? 'number' : 'unbroken']
    }
  }
}

const elementsOf = (node: Element): Element[] => node.children.filter((child) => child.type === 'element')

function textOf(node: ElementContent | undefined): string {
  if (node === undefined) return ''
  if (node.type === 'text') return node.value
  return node.type === 'element' ? node.children.map(textOf).join('') : ''
}
