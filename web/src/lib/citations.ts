import type { Passage } from './passages.ts'
import { bestSentence } from './sentences.ts'

/** A place that an answer cites: a page or a section of a file. Cited several times, it has one number. */
export interface Source {
  /** From 1, in the order in which the answer cites them. */
  number: number
  passage: Passage
  /** The page that was cited, of a file that has pages. */
  page: number | undefined
  /** The sentence of the passage that fits best to what the answer says there. */
  quote: string
}

export interface Citations {
  /** Markdown in which each citation is a link to `#source-{place}`, with the place of its mark in `marks`. */
  texts: string[]
  /** One for each citation in the texts, in their order. */
  marks: Source[]
  /** What was cited, each place once. */
  sources: Source[]
}

interface Label {
  label: string
  /** The passages that it may mean, best first. */
  passages: Passage[]
  page: number | undefined
}

/**
 * Finds the citations in the texts of an answer, `(guide.pdf, page 3)` and `(guide.pdf, page 3; notes.md, Fees)`, and
 * puts a number in place of each. What no passage is known by stays as it is.
 */
export function citationsIn(texts: string[], passages: Passage[]): Citations {
  const labels = labelsOf(passages)
  const sources = new Map<string, Source>()
  const marks: Source[] = []
  const cite = ({ label, passages: candidates, page }: Label, claim: string): string => {
    const [best] = candidates
      .map((passage) => ({ passage, ...bestSentence(passage, claim, page) }))
      .toSorted((a, b) => b.score - a.score)
    if (best === undefined) return label
    const known = sources.get(label)
    const source = { number: known?.number ?? sources.size + 1, passage: best.passage, page, quote: best.text }
    if (known === undefined) sources.set(label, source)
    marks.push(source)
    return `[${source.number}](#source-${marks.length - 1})`
  }
  return { texts: texts.map((text) => withMarks(text, labels, cite)), marks, sources: [...sources.values()] }
}

/** Without a citation that is only half written. */
export function withoutHalfCitation(text: string, passages: Passage[]): string {
  const begin = text.lastIndexOf('(')
  const half = text.slice(begin + 1)
  if (begin < 0 || half.includes(')')) return text
  const isHalf = passages.some(({ file_name: name }) => half.startsWith(name) || (half !== '' && name.startsWith(half)))
  return isHalf ? text.slice(0, begin).trimEnd() : text
}

function withMarks(text: string, labels: Label[], cite: (label: Label, claim: string) => string): string {
  let result = ''
  let done = 0
  for (let begin = text.indexOf('('); begin >= 0; begin = text.indexOf('(', begin + 1)) {
    const found = groupAt(text, begin, labels)
    if (found === undefined) continue
    const claim = claimBefore(text.slice(done, begin))
    result += `${text.slice(done, begin).trimEnd()}${found.labels.map((label) => cite(label, claim)).join('')}`
    done = found.end
    begin = found.end - 1
  }
  return result + text.slice(done)
}

/** The citations of a group in parentheses, which must hold nothing else. */
function groupAt(text: string, begin: number, labels: Label[]): { labels: Label[]; end: number } | undefined {
  const found: Label[] = []
  for (let at = begin + 1; ;) {
    const label = labels.find((one) => text.startsWith(one.label, at))
    if (label === undefined) return undefined
    found.push(label)
    at += label.label.length
    if (text[at] === ')') return { labels: found, end: at + 1 }
    const separator = /^\s*[;,]\s*/.exec(text.slice(at, at + 4))?.[0]
    if (separator === undefined) return undefined
    at += separator.length
  }
}

/** The sentence that a citation ends, without its marks. */
function claimBefore(text: string): string {
  const line = text.slice(text.lastIndexOf('\n') + 1).trim()
  return /[^.!?]*[.!?]*$/.exec(line)?.[0] || line
}

/** What the document calls a page; a label that is a number could be another page. */
function labelOf({ label }: { page: number; label?: string }): string[] {
  return label === undefined || /^\d+$/.test(label) ? [] : [label]
}

/** By what each passage can be cited; longer labels first, because one may begin with another. */
function labelsOf(passages: Passage[]): Label[] {
  const labels = new Map<string, Label>()
  const add = (label: string, passage: Passage, page?: number) => {
    const known = labels.get(label)
    if (known) known.passages.push(passage)
    else labels.set(label, { label, passages: [passage], page })
  }
  for (const passage of passages) {
    const { file_name: name, page, last_page: last, heading, pages = page === undefined ? [] : [{ page }] } = passage
    for (const one of pages)
      for (const shown of new Set([String(one.page), ...labelOf(one)])) {
        add(`${name}, page ${shown}`, passage, one.page)
        add(`${name}, p. ${shown}`, passage, one.page)
      }
    if (last !== undefined && page !== undefined && page !== last)
      for (const dash of ['–', '-']) add(`${name}, pages ${page}${dash}${last}`, passage, page)
    if (heading !== undefined) add(`${name}, ${heading}`, passage)
    add(name, passage, page)
  }
  return [...labels.values()].toSorted((a, b) => b.label.length - a.label.length)
}
