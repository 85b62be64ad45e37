import { texts } from '../texts/index.ts'
import type { Source } from './citations.ts'
import type { Passage } from './passages.ts'

/** `page 3` or `pages 3–4`. */
export function pagesOf({ page, last_page: last = page }: Pick<Passage, 'page' | 'last_page'>): string | undefined {
  if (page === undefined || last === undefined) return undefined
  return page === last ? texts.chat.page(page) : texts.chat.pages(page, last)
}

/** Where in its file a source is. */
export function placeOf({ passage, page }: Pick<Source, 'passage' | 'page'>): string | undefined {
  if (page !== undefined) return pagesOf({ page, last_page: page })
  return passage.heading
}
