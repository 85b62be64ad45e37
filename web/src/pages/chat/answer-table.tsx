import { type ComponentProps, useRef } from 'react'
import { csvOf, markdownTableOf } from '../../lib/written-tables.ts'
import { texts } from '../../texts/index.ts'
import { CopyButton } from '../../ui/code-block.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'

/** A table of an answer: as wide as its words need, in a box that scrolls, with buttons that copy it. */
export function AnswerTable({ children }: ComponentProps<'table'>) {
  const table = useRef<HTMLTableElement>(null)
  const rows = () => [...(table.current?.rows ?? [])].map((row) => [...row.cells].map(({ innerText }) => innerText))
  return (
    <div className="answer-table">
      <ScrollRegion label={texts.chat.table}>
        <table ref={table}>{children}</table>
      </ScrollRegion>
      <div className="answer-table-copies screen-only">
        <CopyButton text={() => markdownTableOf(rows())} label={texts.chat.copyTable} />
        <CopyButton text={() => csvOf(rows())} label={texts.chat.copyCsv} />
      </div>
    </div>
  )
}
