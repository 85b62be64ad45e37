import { Check, Copy, WrapText } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { copyText } from '../lib/copy-text.ts'
import { texts } from '../texts/index.ts'
import { Button, IconButton } from './button.tsx'

/** A text, or what gives it when it is copied. */
type Copied = string | (() => string)

function useCopy(text: Copied) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await copyText(typeof text === 'string' ? text : text())
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return { isCopied, copy: () => void copy() }
}

/** The same without text, for places with many in a row. */
export function CopyIcon({ text }: { text: string }) {
  const { isCopied, copy } = useCopy(text)
  return (
    <IconButton
      label={isCopied ? texts.copied : texts.copy}
      icon={isCopied ? <Check size={15} /> : <Copy size={15} />}
      onClick={copy}
    />
  )
}

export function CopyButton({ text, label = texts.copy }: { text: Copied; label?: string }) {
  const { isCopied, copy } = useCopy(text)
  return (
    <Button size="small" aria-live="polite" onClick={copy}>
      {isCopied ? <Check size={14} aria-hidden="true" /> : <Copy size={14} aria-hidden="true" />}
      {isCopied ? texts.copied : label}
    </Button>
  )
}

interface CodeFrameProps {
  /** What is copied. */
  text: string
  label: string
  /** Shown above it. */
  language?: string | undefined
  /** Of code that can be folded. */
  fold?: { isFolded: boolean; lines: number; onToggle: () => void }
  /** More buttons for its head. */
  buttons?: ReactNode
  children: ReactNode
}

/** A quiet box for source text: its language, whether long lines are wrapped, and a button that copies it. */
export function CodeFrame({ text, label, language, fold, buttons, children }: CodeFrameProps) {
  const [isWrapped, setWrapped] = useState(false)
  const { isCopied, copy } = useCopy(text)
  return (
    <div className="code-wrap" dir="ltr">
      <div className="code-head">
        <span className="code-language truncate">{language}</span>
        {buttons}
        <IconButton
          label={texts.wrapLines}
          aria-pressed={isWrapped}
          icon={<WrapText size={15} />}
          onClick={() => setWrapped(!isWrapped)}
        />
        <IconButton
          label={isCopied ? texts.copied : texts.copy}
          icon={isCopied ? <Check size={15} /> : <Copy size={15} />}
          onClick={copy}
        />
      </div>
      <pre
        className={isWrapped ? 'code-block code-wrapped' : 'code-block'}
        role="group"
        tabIndex={0}
        aria-label={label}
      >
        <code>{children}</code>
      </pre>
      {fold && (
        <div className="code-fold screen-only" data-folded={fold.isFolded}>
          <Button size="small" aria-expanded={!fold.isFolded} onClick={fold.onToggle}>
            {fold.isFolded ? texts.showAllLines(fold.lines) : texts.showFewerLines}
          </Button>
        </div>
      )}
    </div>
  )
}

interface CodeBlockProps {
  text: string
  label: string
  language?: string | undefined
}

/** Source text that is not folded. */
export const CodeBlock = ({ text, label, language }: CodeBlockProps) => (
  <CodeFrame text={text} label={label} language={language}>
    {text}
  </CodeFrame>
)
