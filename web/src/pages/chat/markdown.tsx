import {
  type ComponentProps,
  type ComponentType,
  type ReactNode,
  Suspense,
  createElement,
  memo,
  useEffect,
  useRef,
  useState,
} from 'react'
import { type Part, partsOf } from '../../lib/markdown/parts.ts'
import type { Written } from '../../lib/markdown/read.ts'
import { knownMarkdown, readMarkdown } from '../../lib/markdown/reader.ts'
import { getSession } from '../../lib/session.ts'
import { csvOf, markdownTableOf } from '../../lib/written-tables.ts'
import { texts } from '../../texts/index.ts'
import { CopyButton } from '../../ui/code-block.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { AnswerCode } from './answer-code.tsx'
import { Mark } from './sources/marks.tsx'

const sourceLink = /^#source-(\d+)$/
/** Characters of a text that is read at all. */
const longest = 300_000
/** With more parts than these, those out of sight are not laid out. */
const manyParts = 12

const Formula = lazyPart(() => import('./math.tsx'))
const RemotePicture = lazyPart(() => import('./remote-picture.tsx'))
const Diagram = lazyPart(() => import('./diagram.tsx'))

const FormulaOf = ({ tex, isBlock }: { tex: string; isBlock: boolean }) => (
  <Suspense fallback={<code data-pending>{tex}</code>}>
    <Formula tex={tex} isBlock={isBlock} />
  </Suspense>
)

interface ElementProps {
  attributes: Readonly<Record<string, string | number | boolean>>
  inner: Written[]
}

/** The elements that are more than their tag. */
const elements: Record<string, ComponentType<ElementProps>> = {
  table: ({ inner }) => <AnswerTable>{shown(inner)}</AnswerTable>,
  // The check box of a task list.
  input: ({ attributes: { checked } }) => (
    <input
      type="checkbox"
      disabled
      defaultChecked={checked === true}
      aria-label={checked ? texts.chat.taskDone : texts.chat.taskOpen}
    />
  ),
  a({ attributes, inner }) {
    const place = sourceLink.exec(String(attributes['href'] ?? ''))?.[1]
    if (place !== undefined) return <Mark place={Number(place)} />
    return (
      <a {...attributes} target="_blank" rel="noreferrer noopener">
        {shown(inner)}
      </a>
    )
  },
  img({ attributes: { src, alt = '' } }) {
    const host = typeof src === 'string' ? hostOf(src) : undefined
    if (typeof src !== 'string' || host === undefined) return <span>{alt}</span>
    const link = (
      <a href={src} target="_blank" rel="noreferrer noopener">
        {alt || src}
      </a>
    )
    // Only the service reads pictures, and only for its users.
    if (getSession() === undefined) return link
    return (
      <Suspense fallback={link}>
        <RemotePicture url={src} alt={String(alt)} host={host} />
      </Suspense>
    )
  },
  code: ({ attributes, inner }) =>
    String(attributes['className']).includes('math-inline') ? (
      <FormulaOf tex={plainText(inner)} isBlock={false} />
    ) : (
      <code dir="ltr">{plainText(inner)}</code>
    ),
  pre({ inner }) {
    const [code] = inner
    const className = Array.isArray(code) ? String(code[1]['className'] ?? '') : ''
    const text = plainText(inner)
    if (className.includes('math-display')) return <FormulaOf tex={text} isBlock />
    const language = /\blanguage-([\w+#.-]{1,30})/.exec(className)?.[1]
    return <Code text={text.replace(/\n$/, '')} language={language} isOpen={false} />
  },
}

/** The host of an address on the web. */
function hostOf(address: string): string | undefined {
  const url = URL.parse(address)
  return url !== null && /^https?:$/.test(url.protocol) ? url.hostname : undefined
}

/**
 * An answer of an assistant, with the citations of the `MarksContext`. No HTML, and no requests to other sites, which
 * would tell them who reads the answer. It is read in a worker, part by part, and only what has changed; what would take
 * too long is shown as it is.
 */
export const Markdown = memo(({ text }: { text: string }) => {
  if (text.length > longest)
    return (
      <div className="markdown">
        <PlainText text={text} />
      </div>
    )
  const parts = partsOf(text)
  const isLong = parts.length > manyParts
  return (
    <div className="markdown">
      {parts.map((part, index) => {
        const piece = <PartOf key={index} {...part} />
        return isLong ? (
          <div key={index} className="markdown-part">
            {piece}
          </div>
        ) : (
          piece
        )
      })}
    </div>
  )
})
Markdown.displayName = 'Markdown'

/** Not drawn again while its text is the same. */
const PartOf = memo((part: Part) =>
  part.kind === 'code' ? (
    <Code text={part.text} language={part.language} isOpen={part.isOpen} />
  ) : (
    <TextPart text={part.text} />
  ),
)
PartOf.displayName = 'PartOf'

function TextPart({ text }: { text: string }) {
  const written = useWritten(text)
  if (written === null) return <PlainText text={text} />
  if (written !== undefined) return <Pieces written={written} />
  return (
    <div className="markdown-plain markdown-pending" dir="auto" data-pending>
      {text}
    </div>
  )
}

const Pieces = memo(({ written }: { written: Written[] }) => shown(written))
Pieces.displayName = 'Pieces'

const PlainText = ({ text }: { text: string }) => (
  <div className="markdown-plain" dir="auto">
    {text}
  </div>
)

/** What a text says; while it is read, what its beginning said. Null: it is shown as it is, and so is what it grows to. */
function useWritten(text: string): Written[] | null | undefined {
  const [last, setLast] = useState<{ text: string; written: Written[] | null }>()
  const isKnown = last?.text === text || (last?.written === null && text.startsWith(last.text))
  const known = isKnown ? undefined : knownMarkdown(text)
  const isNeeded = !isKnown && known === undefined
  useEffect(() => {
    if (!isNeeded) return
    const ended = new AbortController()
    void readMarkdown(text, ended.signal).then((written) => {
      if (written !== undefined && !ended.signal.aborted) setLast({ text, written })
    })
    return () => ended.abort()
  }, [text, isNeeded])
  return known ?? last?.written
}

function Code(code: { text: string; language: string | undefined; isOpen: boolean }) {
  if (code.language !== 'mermaid') return <AnswerCode {...code} />
  return (
    <Suspense fallback={<AnswerCode {...code} />}>
      <Diagram text={code.text} />
    </Suspense>
  )
}

function shown(written: Written[]): ReactNode {
  return written.map((node, index) => {
    if (typeof node === 'string') return node
    const [tag, attributes, inner] = node
    const Element = elements[tag]
    if (Element !== undefined) return <Element key={index} attributes={attributes} inner={inner} />
    const { align, ...others } = attributes
    const style = typeof align === 'string' && { style: { textAlign: align } }
    return createElement(tag, { ...others, ...style, key: index }, ...(inner.length > 0 ? [shown(inner)] : []))
  })
}

const plainText = (written: Written[]): string =>
  written.map((node) => (typeof node === 'string' ? node : plainText(node[2]))).join('')

/** A table of an answer: as wide as its words need, in a box that scrolls, with buttons that copy it. */
function AnswerTable({ children }: ComponentProps<'table'>) {
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
