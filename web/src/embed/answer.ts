import type { Message } from '../../../client/src/index.ts'
import { citationsIn, withoutHalfCitation } from '../lib/citations.ts'
import { type Part, partsOf } from '../lib/markdown/parts.ts'
import { parsePassages } from '../lib/passages.ts'
import { flowing } from '../lib/sentences.ts'
import { element } from './elements.ts'
import type { ReadHtml } from './reading.ts'

/** What a citation opens: what the service has told about the passage. */
export interface Cited {
  number: number
  file: string
  page?: number | undefined
  heading?: string | undefined
  text: string
  quote: string
}

export interface Answer {
  /** Markdown; each citation is a link to `#source-{place}`, with the place of its source in `cited`. */
  text: string
  cited: Cited[]
}

export const plainAnswer = (text: string): Answer => ({ text, cited: [] })

/** The answer that the messages of a run give. */
export function answerOf(messages: Message[], isComplete: boolean): Answer {
  const passages = messages.flatMap((message) =>
    message.type === 'ToolMessage' ? parsePassages(message.data.content) : [],
  )
  const said = messages.flatMap(({ type, data }) => (type === 'AIMessage' && data.content !== '' ? [data.content] : []))
  const written = isComplete ? said : said.map((text) => withoutHalfCitation(text, passages))
  const { texts, marks } = citationsIn(written, passages)
  return {
    text: texts.join('\n\n'),
    cited: marks.map(({ number, passage, page, quote }) => ({
      number,
      file: passage.file_name,
      page,
      heading: passage.heading,
      text: passage.page === undefined ? passage.text : flowing(passage.text),
      quote: flowing(quote),
    })),
  }
}

/** What the model thought, where the owner lets readers see it. */
export function thoughtOf(messages: Message[]): string {
  return messages
    .flatMap(({ type, data }) => (type === 'AIMessage' && data.reasoning ? [data.reasoning] : []))
    .join('\n\n')
}

interface Shown {
  /** The name of a table that scrolls. */
  table: string
  /** The name of a citation's button. */
  labelOf: (source: Cited) => string
  onOpen: (source: Cited) => void
  /** Something of the answer was drawn. */
  onDrawn: () => void
  read: ReadHtml
}

/** A part of an answer, as the page has it. */
interface Drawn {
  part: Part
  box: HTMLElement
  reading?: AbortController
}

const drawn = new WeakMap<HTMLElement, Drawn[]>()

/**
 * Markdown without HTML, and without images, because loading an image would tell its server who reads the answer.
 * It is read elsewhere, part by part, and only what has changed since the last time; what would take too long is shown as
 * it is.
 */
export function render(line: HTMLElement, { text, cited }: Answer, shown: Shown): void {
  const before = drawn.get(line) ?? []
  const parts = partsOf(text)
  const now = parts.map((part, index): Drawn => {
    const known = before[index]
    if (known !== undefined && isSame(known.part, part)) return known
    known?.reading?.abort()
    if (part.kind === 'code') return { part, box: codeOf(part.text) }
    const isGrown = known?.part.kind === 'text'
    const box = isGrown ? known.box : element('div', { class: 'part plain', dir: 'auto' }, part.text)
    const reading = new AbortController()
    void shown.read(part.text, reading.signal).then((html) => {
      if (reading.signal.aborted) return
      box.classList.toggle('plain', html === undefined)
      if (html === undefined) box.textContent = part.text
      else box.replaceChildren(contentOf(html, cited, shown))
      shown.onDrawn()
    })
    return { part, box, reading }
  })
  for (const { reading } of before.slice(now.length)) reading?.abort()
  drawn.set(line, now)
  const boxes = now.map(({ box }) => box)
  if (boxes.length !== line.children.length || boxes.some((box, index) => box !== line.children[index]))
    line.replaceChildren(...boxes)
}

const isSame = (a: Part, b: Part): boolean => a.kind === b.kind && a.text === b.text

function codeOf(text: string): HTMLElement {
  const box = element('div', { class: 'part' })
  const code = element('pre', { dir: 'ltr', tabindex: '0' })
  code.append(element('code', {}, text))
  box.append(code)
  return box
}

function contentOf(html: string, cited: Cited[], { table: tableLabel, labelOf, onOpen }: Shown): DocumentFragment {
  const template = document.createElement('template')
  template.innerHTML = html
  for (const table of template.content.querySelectorAll('table')) {
    const box = element('div', { class: 'table', role: 'region', tabindex: '0', 'aria-label': tableLabel })
    table.replaceWith(box)
    box.append(table)
  }
  for (const image of template.content.querySelectorAll('img')) image.replaceWith(image.alt)
  for (const block of template.content.querySelectorAll('p, li, h1, h2, h3, h4, h5, h6, blockquote, ul, ol, td, th'))
    block.setAttribute('dir', 'auto')
  for (const code of template.content.querySelectorAll('pre, code')) code.setAttribute('dir', 'ltr')
  for (const link of template.content.querySelectorAll('a')) {
    const source = sourceOf(link.getAttribute('href') ?? '', cited)
    if (source === undefined) {
      link.target = '_blank'
      link.rel = 'noreferrer noopener'
      continue
    }
    const label = labelOf(source)
    const mark = element('button', { type: 'button', class: 'mark', 'aria-label': label, title: label })
    mark.textContent = String(source.number)
    mark.addEventListener('click', () => onOpen(source))
    link.replaceWith(mark)
  }
  return template.content
}

const sourceLink = '#source-'

function sourceOf(href: string, cited: Cited[]): Cited | undefined {
  return href.startsWith(sourceLink) ? cited[Number(href.slice(sourceLink.length))] : undefined
}
