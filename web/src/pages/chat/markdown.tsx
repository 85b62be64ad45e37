import {
  type ComponentProps,
  type ReactNode,
  Suspense,
  isValidElement,
  lazy,
  memo,
  useEffect,
  useMemo,
  useState,
} from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import { htmlAsText, numberColumns, ownDirections } from '../../lib/answer-tree.ts'
import { isTooDense } from '../../lib/markdown-bounds.ts'
import { getSession } from '../../lib/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { texts } from '../../texts/index.ts'
import { AnswerTable } from './answer-table.tsx'
import { Mark } from './sources/marks.tsx'

const sourceLink = /^#source-(\d+)$/

// The prefix separates ids in the text from those of the page; citations do not link to ids.
const schema = {
  ...defaultSchema,
  clobberPrefix: 'answer-',
  attributes: {
    ...defaultSchema.attributes,
    code: [['className', /^language-./, 'math-inline', 'math-display'] as [string, RegExp, string, string]],
  },
}

const rehypePlugins: ComponentProps<typeof ReactMarkdown>['rehypePlugins'] & object = [
  htmlAsText,
  [rehypeSanitize, schema],
  numberColumns,
  ownDirections,
]

interface CodeProps {
  className?: string
  children?: ReactNode
}

const Formula = lazy(() => import('./math.tsx'))
const RemotePicture = lazy(() => import('./remote-picture.tsx'))
const Diagram = lazy(() => import('./diagram.tsx'))

const FormulaOf = ({ tex, isBlock }: { tex: string; isBlock: boolean }) => (
  <Suspense fallback={<code data-pending>{tex}</code>}>
    <Formula tex={tex} isBlock={isBlock} />
  </Suspense>
)

const components: Components = {
  table: AnswerTable,
  // The check box of a task list.
  input: ({ checked }) => (
    <input
      type="checkbox"
      disabled
      defaultChecked={checked}
      aria-label={checked ? texts.chat.taskDone : texts.chat.taskOpen}
    />
  ),
  a({ href, children }) {
    const place = sourceLink.exec(href ?? '')?.[1]
    if (place !== undefined) return <Mark place={Number(place)} />
    return (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    )
  },
  img: ({ src, alt = '' }) => {
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
        <RemotePicture url={src} alt={alt} host={host} />
      </Suspense>
    )
  },
  code: ({ className, children }) =>
    className?.includes('math-inline') ? (
      <FormulaOf tex={plainText(children)} isBlock={false} />
    ) : (
      <code className={className}>{children}</code>
    ),
  pre: ({ children }) => {
    const text = plainText(children)
    const { className = '', children: content } = isValidElement<CodeProps>(children) ? children.props : { children }
    if (className.includes('math-display')) return <FormulaOf tex={text} isBlock />
    const language = /\blanguage-([\w+#.-]{1,30})/.exec(className)?.[1]
    const code = (
      <CodeBlock text={text} label={texts.chat.result} language={language}>
        {content}
      </CodeBlock>
    )
    if (language !== 'mermaid') return code
    return (
      <Suspense fallback={code}>
        <Diagram text={text} />
      </Suspense>
    )
  },
}

/** The host of an address on the web. */
function hostOf(address: string): string | undefined {
  const url = URL.parse(address)
  return url !== null && /^https?:$/.test(url.protocol) ? url.hostname : undefined
}

/**
 * An answer of an assistant, with the citations of the `MarksContext`. No HTML, and no requests to other sites, which
 * would tell them who reads the answer. A text that would take too long to read is shown as it is.
 */
export const Markdown = memo(({ text }: { text: string }) =>
  isTooDense(text) ? (
    <div className="markdown markdown-plain" dir="auto">
      {text}
    </div>
  ) : (
    <ReadMarkdown text={text} />
  ),
)
Markdown.displayName = 'Markdown'

/** Characters of a text whose code is coloured. */
const mostColoured = 100_000

const ReadMarkdown = ({ text }: { text: string }) => {
  const highlight = useLoaded(highlighter, text.length <= mostColoured && /```|~~~/.test(text))
  const math = useLoaded(formulas, /\$|\\[([]/.test(text))
  const prepared = useMemo(() => math?.prepare(text), [math, text])
  return (
    <div className="markdown">
      <ReactMarkdown
        remarkPlugins={math && prepared !== undefined ? [remarkGfm, math.plugin] : [remarkGfm]}
        rehypePlugins={highlight ? [...rehypePlugins, [highlight, { detect: false }]] : rehypePlugins}
        components={components}
      >
        {prepared ?? text}
      </ReactMarkdown>
    </div>
  )
}

/** Loaded with the first text that needs it; until then, or if it cannot be loaded, the text is shown without. */
class Part<T> {
  loaded: T | undefined
  readonly load: () => Promise<T>

  constructor(load: () => Promise<T>) {
    this.load = load
  }
}

/** What colours source code. */
const highlighter = new Part(async () => (await import('rehype-highlight')).default)
/** What sets formulas. */
const formulas = new Part(async () => (await import('../../lib/math.ts')).math)

function useLoaded<T>(part: Part<T>, isNeeded: boolean): T | undefined {
  const [loaded, setLoaded] = useState(() => part.loaded)
  useEffect(() => {
    if (!isNeeded || loaded) return
    part.load().then(
      (value) => {
        part.loaded = value
        setLoaded(() => value)
      },
      () => undefined,
    )
  }, [part, isNeeded, loaded])
  return isNeeded ? loaded : undefined
}

function plainText(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map(plainText).join('')
  return isValidElement<{ children?: ReactNode }>(node) ? plainText(node.props.children) : ''
}
