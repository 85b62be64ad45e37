import type { EmbedTexts } from '../texts/embed.ts'
import type { Cited } from './answer.ts'
import { element, iconButton } from './elements.ts'

/** The passage behind a citation, over the chat. Closing it gives the focus back. */
export function createSourcePanel(texts: EmbedTexts) {
  const panel = element('section', { class: 'source', role: 'region', hidden: '' })
  let opener: HTMLElement | undefined

  function close(): void {
    if (panel.hidden) return
    panel.hidden = true
    opener?.focus()
  }

  return {
    panel,
    close,
    get isOpen() {
      return !panel.hidden
    },
    open(source: Cited, from: HTMLElement | undefined): void {
      opener = from
      const { number, file, page, heading } = source
      const place = page === undefined ? heading : texts.page(page)
      const closing = iconButton('close', texts.closeSource)
      closing.addEventListener('click', close)
      const names = element('div', { class: 'names' })
      names.append(element('strong', {}, file))
      if (place) names.append(element('span', {}, place))
      const head = element('div', { class: 'source-head' })
      head.append(element('span', { class: 'mark' }, String(number)), names, closing)
      panel.replaceChildren(head, passage(source, texts.passage))
      panel.setAttribute('aria-label', texts.source(number, file))
      panel.hidden = false
      closing.focus()
    },
  }
}

/** With the cited sentence marked, if the passage has it in these words. */
function passage({ text, quote }: Cited, label: string): HTMLElement {
  const body = element('div', { class: 'passage', tabindex: '0', role: 'group', 'aria-label': label })
  const begin = quote === '' ? -1 : text.indexOf(quote)
  if (begin < 0) body.textContent = text
  else body.append(text.slice(0, begin), element('mark', {}, quote), text.slice(begin + quote.length))
  return body
}
