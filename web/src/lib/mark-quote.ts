/** The name of the highlight, as the style sheet knows it. */
const name = 'quote'

interface Place {
  node: Text
  offset: number
}

/**
 * Marks a quote in the text of an element, whatever elements the text is spread over, and scrolls to it. The page is not
 * changed: the browser paints the mark (CSS Custom Highlight API).
 */
export function markQuote(root: HTMLElement, quote: string): void {
  unmarkQuote()
  const range = findQuote(root, quote)
  if (range === undefined) return
  if ('highlights' in CSS) CSS.highlights.set(name, new Highlight(range))
  range.startContainer.parentElement?.scrollIntoView({ block: 'center', inline: 'center' })
}

export function unmarkQuote(): void {
  if ('highlights' in CSS) CSS.highlights.delete(name)
}

/**
 * Looks in the text nodes as in one text without spaces and hyphens, because originals are broken into lines in their own
 * way.
 */
function findQuote(root: HTMLElement, quote: string): Range | undefined {
  let text = ''
  const places: Place[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode
    if (!(node instanceof Text)) continue
    for (let offset = 0; offset < node.data.length; offset += 1) {
      const letter = bare(node.data.charAt(offset))
      for (let index = 0; index < letter.length; index += 1) places.push({ node, offset })
      text += letter
    }
  }
  const wanted = bare(quote)
  for (const part of [wanted, bare(valuesOf(quote)), wanted.slice(0, 60), wanted.slice(-60)]) {
    const begin = part.length < 4 ? -1 : text.indexOf(part)
    if (begin >= 0) return rangeOf(places.slice(begin, begin + part.length))
  }
  return undefined
}

/** Of a row of a table (`Ship: Amalia; Tons: 1180`) what stands in its cells; the names stand above them. */
const valuesOf = (quote: string): string => quote.replaceAll(/(^|; )[^:;]*: /g, '$1')

function bare(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** From the first letter to the last, with the marks that end a sentence. */
function rangeOf([first, ...more]: Place[]): Range | undefined {
  const last = more.at(-1)
  if (first === undefined || last === undefined) return undefined
  const ending = /^[.!?…)”’"]*/.exec(last.node.data.slice(last.offset + 1))?.[0] ?? ''
  const range = document.createRange()
  range.setStart(first.node, first.offset)
  range.setEnd(last.node, last.offset + 1 + ending.length)
  return range
}
