import { Check, Copy } from 'lucide-react'
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

interface CodeBlockProps {
  text: string
  label: string
  /** Shown above it. */
  language?: string | undefined
  children?: ReactNode
}

/** Source text with a button that copies it. */
export function CodeBlock({ text, label, language, children }: CodeBlockProps) {
  return (
    <div className="code-wrap">
      {language && <div className="code-language">{language}</div>}
      <pre className="code-block" role="group" tabIndex={0} aria-label={label}>
        <code>{children ?? text}</code>
      </pre>
      <CopyButton text={text} />
    </div>
  )
}
