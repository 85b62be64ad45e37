import { micromark } from 'micromark'
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table'
import type { Message } from '../../../client/src/index.ts'
import { isTooDense } from '../lib/markdown-bounds.ts'
import { citationsIn, withoutHalfCitation } from '../lib/citations.ts'
import { parsePassages } from '../lib/passages.ts'
import { flowing } from '../lib/sentences.ts'
import { element } from './elements.ts'

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

interface Shown {
  /** The name of a table that scrolls. */
  table: string
  /** The name of a citation's button. */
  labelOf: (source: Cited) => string
  onOpen: (source: Cited) => void
}

/**
 * Markdown without HTML, and without images, because loading an image would tell its server who reads the answer.
 * A text that would take too long to read is shown as it is.
 */
export function render(
  line: HTMLElement,
  { text, cited }: Answer,
  { table: tableLabel, labelOf, onOpen }: Shown,
): void {
  const isPlain = isTooDense(text)
  line.classList.toggle('plain', isPlain)
  if (isPlain) {
    line.textContent = text
    return
  }
  const template = document.createElement('template')
  template.innerHTML = micromark(text, { extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()] })
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
  line.replaceChildren(template.content)
}

const sourceLink = '#source-'

function sourceOf(href: string, cited: Cited[]): Cited | undefined {
  return href.startsWith(sourceLink) ? cited[Number(href.slice(sourceLink.length))] : undefined
}
