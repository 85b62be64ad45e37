import { type ReactNode, isValidElement, memo, useEffect, useState } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import type rehypeHighlight from 'rehype-highlight'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import { CodeBlock } from '../../ui/code-block.tsx'
import { texts } from '../../texts/index.ts'
import { Mark } from './sources/marks.tsx'

const sourceLink = /^#source-(\d+)$/

// The prefix separates ids in the text from those of the page; citations do not link to ids.
const schema = { ...defaultSchema, clobberPrefix: 'answer-' }

const components: Components = {
  a({ href, children }) {
    const place = sourceLink.exec(href ?? '')?.[1]
    if (place !== undefined) return <Mark place={Number(place)} />
    return (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    )
  },
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer noopener">
      {alt || src}
    </a>
  ),
  pre: ({ children }) => (
    <CodeBlock text={plainText(children)} label={texts.chat.result}>
      {isValidElement<{ children?: ReactNode }>(children) ? children.props.children : children}
    </CodeBlock>
  ),
}

/**
 * An answer of an assistant, with the citations of the `MarksContext`. No HTML, and no images from other sites, because
 * loading one would tell its server who reads the answer.
 */
export const Markdown = memo(({ text }: { text: string }) => {
  const highlight = useHighlighter(/```|~~~/.test(text))
  return (
    <div className="markdown">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={
          highlight
            ? [
                [rehypeSanitize, schema],
                [highlight, { detect: false }],
              ]
            : [[rehypeSanitize, schema]]
        }
        components={components}
      >
        {text}
      </ReactMarkdown>
    </div>
  )
})
Markdown.displayName = 'Markdown'

type Highlighter = typeof rehypeHighlight
let highlighter: Highlighter | undefined

/** What colours source code; loaded with the first text that has some. */
function useHighlighter(isNeeded: boolean): Highlighter | undefined {
  const [loaded, setLoaded] = useState(() => highlighter)
  useEffect(() => {
    if (!isNeeded || loaded) return
    const load = async () => {
      highlighter = (await import('rehype-highlight')).default
      setLoaded(() => highlighter)
    }
    // Without it, code is shown in one colour.
    load().catch(() => undefined)
  }, [isNeeded, loaded])
  return isNeeded ? loaded : undefined
}

function plainText(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map(plainText).join('')
  return isValidElement<{ children?: ReactNode }>(node) ? plainText(node.props.children) : ''
}
