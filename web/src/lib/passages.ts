import { texts } from '../texts/index.ts'

/** A passage in the result of `retrieval`, and in the answer to a search. */
export interface Passage {
  file_name: string
  page?: number
  last_page?: number
  heading?: string
  text: string
  pages?: { page: number; sentences: number[] }[]
  score: number
}

/** The passages in the result of a tool; none in results of other tools. */
export function parsePassages(content: string): Passage[] {
  if (!content.startsWith('{"passages"')) return []
  try {
    const { passages } = JSON.parse(content) as { passages: Passage[] }
    return Array.isArray(passages) ? passages.filter(({ text, file_name: name }) => Boolean(text && name)) : []
  } catch {
    return []
  }
}

/** `page 3` or `pages 3–4`. */
export function pagesOf({ page, last_page: last = page }: Pick<Passage, 'page' | 'last_page'>): string | undefined {
  if (page === undefined || last === undefined) return undefined
  return page === last ? texts.chat.page(page) : texts.chat.pages(page, last)
}

/** Turns each mention of a place in a passage into a link to the passage: `(guide.pdf, page 3)`. */
export function withCitations(text: string, passages: Passage[]): string {
  let result = text
  const labels = passages.flatMap((passage, index) => {
    const { file_name: name, page, last_page: last, heading, pages = page === undefined ? [] : [{ page }] } = passage
    const places = pages.map((one) => `page ${one.page}`)
    if (last !== undefined && page !== last) places.push(`pages ${page}–${last}`, `pages ${page}-${last}`)
    if (heading !== undefined) places.push(heading)
    return [...places.map((place) => `${name}, ${place}`), name].map((label) => ({ label, place: index }))
  })
  const seen = new Set<string>()
  for (const { label, place } of labels) {
    if (seen.has(label)) continue
    seen.add(label)
    const shown = label.replaceAll(/([\\[\]*_`])/g, '\\$1')
    result = result.replaceAll(`(${label})`, () => `[${shown}](#passage-${place})`)
  }
  return result
}
