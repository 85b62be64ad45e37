/** The name of the highlight, as the style sheet knows it. */
const name = 'quote'

/**
 * Marks a quote in the text of an element, whatever elements the text is spread over, and scrolls to it. The page is not
 * changed: the browser paints the marks (CSS Custom Highlight API). Returns whether the quote was found.
 */
export function markQuote(root: HTMLElement, quote: string): boolean {
  const ranges = findQuote(root, quote)
  if (!('highlights' in CSS)) return ranges.length > 0
  if (ranges.length === 0) CSS.highlights.delete(name)
  else CSS.highlights.set(name, new Highlight(...ranges))
  ranges[0]?.startContainer.parentElement?.scrollIntoView({ block: 'center' })
  return ranges.length > 0
}

export function unmarkQuote(): void {
  if ('highlights' in CSS) CSS.highlights.delete(name)
}

/** Text nodes as one text without spaces and hyphens, because originals are broken into lines in their own way. */
function findQuote(root: HTMLElement, quote: string): Range[] {
  let text = ''
  const places: { node: Text; offset: number }[] = []
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
  for (const part of [wanted, wanted.slice(0, 60), wanted.slice(-60)]) {
    const begin = part.length < 4 ? -1 : text.indexOf(part)
    if (begin >= 0) return rangesOf(places.slice(begin, begin + part.length))
  }
  return []
}

function bare(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** One range for each text node. */
function rangesOf(places: { node: Text; offset: number }[]): Range[] {
  const ranges: Range[] = []
  let last: Range | undefined
  for (const { node, offset } of places) {
    if (last?.startContainer !== node) {
      last = document.createRange()
      last.setStart(node, offset)
      ranges.push(last)
    }
    last.setEnd(node, offset + 1)
  }
  if (last?.endContainer instanceof Text) {
    const ending = /^[.!?…)”’"]+/.exec(last.endContainer.data.slice(last.endOffset))?.[0] ?? ''
    last.setEnd(last.endContainer, last.endOffset + ending.length)
  }
  return ranges
}
