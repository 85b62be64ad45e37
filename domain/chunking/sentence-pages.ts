import { largestOf, smallestOf } from '../extremes.ts'
import type { Unit } from './split-units.ts'

/** The sentences of a passage that stand on one page, or of one stretch of it if the passage returns to the page. */
export interface PassagePage {
  page: number
  /** What the document calls the page, where that differs from its number: `xii`. */
  label?: string
  /** Where each sentence begins in the passage's text, counted in UTF-16 code units as JavaScript does; ascending. */
  sentences: number[]
}

/** The pages of a passage made of `units`, of which the first `skipped` characters are left out. */
export function sentencePages(
  units: (Unit & { page: number | undefined; label?: string | undefined; sentences?: number[] })[],
  skipped: number,
): PassagePage[] | undefined {
  const pages: PassagePage[] = []
  let offset = -skipped
  let isBegin = true
  for (const { text, page, label, beginsSentence, sentences = [] } of units) {
    isBegin ||= beginsSentence
    const words = text.trimStart()
    if (words !== '' && isBegin && page !== undefined) {
      const at = offset + text.length - words.length
      const current = pages.at(-1)
      if (current?.page === page) current.sentences.push(at)
      else pages.push({ page, ...(label === undefined ? {} : { label }), sentences: [at] })
    }
    if (page !== undefined) for (const start of sentences) pages.at(-1)?.sentences.push(offset + start)
    // A blank piece does not begin a sentence: the next piece does.
    if (words !== '') isBegin = false
    offset += text.length
  }
  return pages.length === 0 ? undefined : pages
}

/** From the first page of a passage to its last. */
export function pageRange(pages: PassagePage[]): { page: number; last_page: number } {
  const numbers = pages.map(({ page }) => page)
  return { page: smallestOf(numbers), last_page: largestOf(numbers) }
}
