import { ChevronLeft, ChevronRight, ZoomIn, ZoomOut } from 'lucide-react'
import { GlobalWorkerOptions, type PDFDocumentProxy, TextLayer, getDocument, version } from 'pdfjs-dist'
// oxlint-disable-next-line import/default -- Vite gives the address of the file
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { markQuote, unmarkQuote } from '../../../lib/mark-quote.ts'
import { texts } from '../../../texts/index.ts'
import { IconButton } from '../../../ui/button.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Skeleton } from '../../../ui/states.tsx'

const t = texts.source
const margin = 16
const maxZoom = 3
const zoomStep = 0.5
GlobalWorkerOptions.workerSrc = workerUrl
/** Maps of characters, and the fonts that every reader has to know; `web/build.ts` copies them. */
const files = `/console-assets/pdfjs-${version}`

interface PdfPageProps {
  bytes: Uint8Array<ArrayBuffer>
  /** The page that is shown first, from 1. */
  page: number
  quote: string
}

/** A page of a PDF with the quote marked in it, and a way to the others. */
export default function PdfPage({ bytes, page: first, quote }: PdfPageProps) {
  const [page, setPage] = useState(first)
  const { document, problem } = useDocument(bytes)
  const box = useRef<HTMLDivElement>(null)
  const fitting = useWidthOf(box) - 2 * margin
  const [zoom, setZoom] = useState(1)
  const pages = document?.numPages ?? 0
  return (
    <>
      <div className="side-body source-body" ref={box} tabIndex={0} role="region" aria-label={t.original}>
        {problem && <Notice tone="warn">{t.notLoaded}</Notice>}
        {!document && !problem && <Skeleton lines={8} />}
        {document && fitting > 0 && (
          <Sheet
            key={`${page} ${fitting} ${zoom}`}
            document={document}
            number={Math.min(page, pages)}
            width={fitting * zoom}
            quote={quote}
          />
        )}
      </div>
      {pages > 0 && (
        <footer className="source-foot">
          <IconButton
            label={t.zoomOut}
            icon={<ZoomOut size={17} />}
            aria-disabled={zoom <= 1}
            onClick={() => setZoom(Math.max(1, zoom - zoomStep))}
          />
          <IconButton
            label={t.zoomIn}
            icon={<ZoomIn size={17} />}
            aria-disabled={zoom >= maxZoom}
            onClick={() => setZoom(Math.min(maxZoom, zoom + zoomStep))}
          />
          <span className="grow" />
          <IconButton
            label={t.previousPage}
            icon={<ChevronLeft size={17} />}
            aria-disabled={page <= 1}
            onClick={() => setPage(Math.max(1, page - 1))}
          />
          <span className="small muted" aria-live="polite">
            {t.pageOf(page, pages)}
          </span>
          <IconButton
            label={t.nextPage}
            icon={<ChevronRight size={17} />}
            aria-disabled={page >= pages}
            onClick={() => setPage(Math.min(pages, page + 1))}
          />
        </footer>
      )}
    </>
  )
}

/** The width of an element, also after it has changed. */
function useWidthOf(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  return width
}

function useDocument(bytes: Uint8Array<ArrayBuffer>) {
  const [document, setDocument] = useState<PDFDocumentProxy>()
  const [problem, setProblem] = useState(false)
  useEffect(() => {
    const loading = getDocument({
      // The worker takes the bytes that it is given away from the page.
      data: bytes.slice(),
      // The content security policy allows no code that is made at run time.
      useWasm: false,
      enableXfa: false,
      cMapUrl: `${files}/cmaps/`,
      standardFontDataUrl: `${files}/standard_fonts/`,
      useWorkerFetch: false,
      maxImageSize: 64 * 1024 * 1024,
    })
    loading.promise.then(setDocument, () => setProblem(true))
    return () => void loading.destroy()
  }, [bytes])
  return { document, problem }
}

interface SheetProps {
  document: PDFDocumentProxy
  number: number
  width: number
  quote: string
}

/** One page: its picture, and above it the text, which can be selected, read aloud and marked. */
function Sheet({ document, number, width, quote }: SheetProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const layer = useRef<HTMLDivElement>(null)
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    let isOver = false
    const show = async () => {
      const page = await document.getPage(number)
      const scale = width / page.getViewport({ scale: 1 }).width
      const viewport = page.getViewport({ scale })
      const [drawn, text] = [canvas.current, layer.current]
      if (isOver || !drawn || !text) return
      const density = Math.min(window.devicePixelRatio || 1, 2)
      drawn.width = Math.floor(viewport.width * density)
      drawn.height = Math.floor(viewport.height * density)
      text.style.setProperty('--total-scale-factor', String(scale))
      const transform = density === 1 ? undefined : [density, 0, 0, density, 0, 0]
      await page.render({ canvas: drawn, viewport, ...(transform && { transform }) }).promise
      await new TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport }).render()
      if (isOver) return
      markQuote(text, quote)
      setReady(true)
    }
    show().catch(() => setReady(true))
    return () => {
      isOver = true
      unmarkQuote()
    }
  }, [document, number, width, quote])
  return (
    <div className="pdf-sheet" data-ready={isReady} style={{ width }}>
      <canvas ref={canvas} aria-hidden="true" />
      <div ref={layer} className="pdf-text" />
    </div>
  )
}
