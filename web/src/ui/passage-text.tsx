import { Fragment } from 'react'
import type { Passage } from '../lib/passages.ts'
import { flowing } from '../lib/sentences.ts'
import { texts } from '../texts/index.ts'

/** The text of a passage; on several pages, with the number of each page before its text. */
export function PassageText({ text, page, pages = [] }: Pick<Passage, 'text' | 'page' | 'pages'>) {
  if (pages.length < 2) return page === undefined ? text : flowing(text)
  return pages.map(({ page: number, label, sentences: [begin = 0] }, index) => (
    <Fragment key={begin}>
      <div className="muted small">{texts.chat.page(label ?? number)}</div>
      {flowing(text.slice(index === 0 ? 0 : begin, pages[index + 1]?.sentences[0]).trimEnd())}
    </Fragment>
  ))
}
