import { Suspense, useEffect, useRef } from 'react'
import type { KnowledgeFile } from '../../../lib/api.ts'
import type { Source } from '../../../lib/citations.ts'
import { markQuote, unmarkQuote } from '../../../lib/mark-quote.ts'
import { kindOf, useOriginal } from '../../../lib/originals.ts'
import { addressOf } from '../../../lib/passages.ts'
import { texts } from '../../../texts/index.ts'
import { lazyPart } from '../../../ui/lazy-part.ts'
import { Notice } from '../../../ui/notice.tsx'
import { PassageText } from '../../../ui/passage-text.tsx'
import { Skeleton } from '../../../ui/states.tsx'
import { Markdown } from '../markdown.tsx'
import { TableText } from './table-text.tsx'

const PdfPage = lazyPart(() => import('./pdf-page.tsx'))
const t = texts.source

interface OriginalProps {
  assistantId: string | undefined
  source: Source
  files: { data: { files: KnowledgeFile[] } | undefined; isPending: boolean }
}

/** The file that a source is from, as far as a page can show it; otherwise the passage that the answer was given. */
export function Original({ assistantId, source, files }: OriginalProps) {
  const { passage, page, quote } = source
  const address = addressOf(passage)
  const file = files.data?.files.find(({ id }) => id === passage.file_id)
  const kind = file ? kindOf(file) : 'none'
  const original = useOriginal(assistantId ?? '', file?.id ?? '', kind !== 'none' && assistantId !== undefined)
  if (files.isPending || (kind !== 'none' && original.isPending))
    return (
      <div className="side-body source-body">
        <Skeleton lines={8} />
      </div>
    )
  if (kind === 'none' || original.data === undefined)
    return (
      <Marked quote={quote}>
        {address !== undefined && (
          <a href={address} target="_blank" rel="noreferrer noopener">
            {passage.title ?? address}
          </a>
        )}
        {!file && address === undefined && <Notice>{t.gone}</Notice>}
        {original.isError && <Notice tone="warn">{t.notLoaded}</Notice>}
        <div className="source-text">
          <PassageText {...passage} />
        </div>
      </Marked>
    )
  if (kind === 'pdf')
    return (
      <Suspense
        fallback={
          <div className="side-body source-body">
            <Skeleton lines={8} />
          </div>
        }
      >
        <PdfPage bytes={original.data} page={page ?? 1} quote={quote} />
      </Suspense>
    )
  const text = new TextDecoder().decode(original.data)
  return (
    <Marked quote={quote}>
      {kind === 'markdown' && <Markdown text={text} />}
      {kind === 'table' && <TableText text={text} quote={quote} />}
      {kind === 'text' && <div className="source-text">{text}</div>}
    </Marked>
  )
}

/** Text with the quote marked in it. */
function Marked({ quote, children }: { quote: string; children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const mark = () => markQuote(element, quote)
    mark()
    // A text in Markdown comes a moment later.
    const changed = new MutationObserver(mark)
    changed.observe(element, { childList: true, subtree: true })
    return () => {
      changed.disconnect()
      unmarkQuote()
    }
  }, [quote])
  return (
    <div className="side-body source-body" ref={box} tabIndex={0} role="region" aria-label={t.original}>
      {children}
    </div>
  )
}
