import { texts } from '../texts/index.ts'
import type { Source } from './citations.ts'
import type { Passage } from './passages.ts'

/** What the document calls a page: its number, or `xii`. */
function nameOf(page: number, pages: Passage['pages'] = []): number | string {
  return pages.find((one) => one.page === page)?.label ?? page
}

/** `page 3` or `pages 3–4`. */
export function pagesOf({
  page,
  last_page: last = page,
  pages,
}: Pick<Passage, 'page' | 'last_page' | 'pages'>): string | undefined {
  if (page === undefined || last === undefined) return undefined
  const [first, end] = [nameOf(page, pages), nameOf(last, pages)]
  return page === last ? texts.chat.page(first) : texts.chat.pages(first, end)
}

/** Where in its file a source is. */
export function placeOf({ passage, page, quote }: Pick<Source, 'passage' | 'page' | 'quote'>): string | undefined {
  if (page !== undefined) return pagesOf({ ...passage, page, last_page: page })
  return rowOf(passage, quote) ?? passage.heading
}

/** `Budget, row 14`: the row that a quote is from. */
function rowOf({ text, sheets = [] }: Passage, quote: string): string | undefined {
  const at = quote === '' ? -1 : text.indexOf(quote)
  if (at < 0) return undefined
  let found: string | undefined
  for (const { sheet, rows, starts } of sheets)
    for (const [index, start] of starts.entries()) {
      const row = rows[index]
      if (start <= at && row !== undefined)
        found = sheet === undefined ? texts.chat.row(row) : texts.chat.sheetRow(sheet, row)
    }
  return found
}
