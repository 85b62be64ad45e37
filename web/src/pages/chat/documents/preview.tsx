import { Play } from 'lucide-react'
import { useRef, useState } from 'react'
import { kindOf } from '../../../lib/document-answers.ts'
import { documentMessages as t } from '../../../texts/documents.ts'
import { Button } from '../../../ui/button.tsx'
import { Markdown } from '../markdown.tsx'
import { TableText } from '../sources/table-text.tsx'

const shownAs: Record<string, 'page' | 'text' | 'table'> = { html: 'page', svg: 'page', markdown: 'text', csv: 'table' }

/** How a document can be shown as more than its source. */
export function previewOf(language: string): 'page' | 'text' | 'table' | undefined {
  const kind = kindOf(language)
  return Object.hasOwn(shownAs, kind) ? shownAs[kind] : undefined
}

/** A document as it is meant to be seen. */
export function Preview({ language, content }: { language: string; content: string }) {
  switch (previewOf(language)) {
    case 'page':
      return <Page key={content} content={kindOf(language) === 'svg' ? around(content) : content} />
    case 'table':
      return <TableText text={content} quote="" />
    default:
      return <Markdown text={content} />
  }
}

const hasScripts = /<script|\son[a-z]+\s*=/i

/**
 * A page that a model wrote: in a frame of an origin of its own, from which no request goes out
 * (`api/plugins/document-preview.ts`).
 */
function Page({ content }: { content: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [runs, setRuns] = useState(false)
  const page = (
    <iframe
      key={String(runs)}
      ref={frame}
      className="document-page"
      src="/document-preview"
      sandbox="allow-scripts"
      title={t.preview}
      // The frame's origin is opaque and cannot be named; only the page that was put into it can listen.
      onLoad={() => frame.current?.contentWindow?.postMessage({ page: content, runs }, '*')}
    />
  )
  if (runs || !hasScripts.test(content)) return page
  return (
    <>
      <div className="document-change">
        <span className="muted small grow">{t.scriptsOff}</span>
        <Button size="small" onClick={() => setRuns(true)}>
          <Play size={14} aria-hidden="true" />
          {t.runScripts}
        </Button>
      </div>
      {page}
    </>
  )
}

const around = (svg: string) =>
  `<!doctype html><style>body{margin:0;display:grid;place-items:center;min-height:100vh}svg{max-width:100%;max-height:100vh}</style>${svg}`
