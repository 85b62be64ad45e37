import { Suspense, memo, use, useEffect, useState } from 'react'
import type { ColouredLine } from '../../lib/markdown/colour.ts'
import { colour, knownColours } from '../../lib/markdown/reader.ts'
import { texts } from '../../texts/index.ts'
import { CodeFrame } from '../../ui/code-block.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { MessageIdContext, OpenDocumentContext } from './documents/context.ts'

const OpenDocument = lazyPart(() => import('./documents/open-document.tsx'))

/** Lines that are shown before a reader asks for the rest. */
const folded = 40
/** Lines and characters that are coloured: what comes behind them stays plain. */
const mostColoured = { lines: 500, characters: 50_000 }
/** Lines that are laid out together, and only near to what is in sight. */
const linesOfChunk = 100
/** Code within a list changes while it is written; it is coloured when it has rested for this time, in ms. */
const restMs = 250

interface AnswerCodeProps {
  text: string
  language: string | undefined
  /** More of it is being written. */
  isOpen: boolean
}

/** Source code of an answer. Long code is folded. */
export function AnswerCode({ text, language, isOpen }: AnswerCodeProps) {
  const [isWhole, setWhole] = useState(false)
  const lines = text.split('\n')
  const isFolded = !isWhole && lines.length > folded
  const coloured = useColours(isOpen ? undefined : language, lines)
  const messageId = use(MessageIdContext)
  const canOpen = use(OpenDocumentContext) !== undefined && messageId !== '' && !isOpen
  const end = isFolded ? folded : lines.length
  const chunks = Array.from({ length: Math.ceil(end / linesOfChunk) }, (_, chunk) => {
    const [from, to] = [chunk * linesOfChunk, Math.min((chunk + 1) * linesOfChunk, end)]
    return (
      <Chunk
        key={chunk}
        text={lines.slice(from, to).join('\n')}
        coloured={coloured && from < coloured.length ? coloured : undefined}
        from={from}
      />
    )
  })
  return (
    <CodeFrame
      text={text}
      language={language}
      label={texts.chat.code}
      buttons={
        canOpen && (
          <Suspense>
            <OpenDocument messageId={messageId} language={language ?? ''} content={text} />
          </Suspense>
        )
      }
      {...(lines.length > folded && {
        fold: { isFolded, lines: lines.length, onToggle: () => setWhole(!isWhole) },
      })}
    >
      {chunks}
    </CodeFrame>
  )
}

interface ChunkProps {
  text: string
  /** Of the whole code. */
  coloured: ColouredLine[] | undefined
  /** Its first line. */
  from: number
}

/** Drawn once, as long as its text and its colours are the same. */
const Chunk = memo(({ text, coloured, from }: ChunkProps) => {
  const lines = text.split('\n')
  return (
    <span className="code-chunk" style={{ containIntrinsicBlockSize: `auto ${lines.length * 1.5}em` }}>
      {coloured === undefined
        ? `${text}\n`
        : lines.map((line, index) => <Line key={index} text={line} coloured={coloured[from + index]} />)}
    </span>
  )
})
Chunk.displayName = 'Chunk'

function Line({ text, coloured }: { text: string; coloured: ColouredLine | undefined }) {
  if (coloured === undefined) return `${text}\n`
  const pieces = []
  for (let place = 0; place < coloured.length; place += 2) {
    const [name, piece] = [coloured[place], coloured[place + 1]]
    pieces.push(
      name ? (
        <span key={place} className={name}>
          {piece}
        </span>
      ) : (
        piece
      ),
    )
  }
  return [...pieces, '\n']
}

function useColours(language: string | undefined, lines: string[]): ColouredLine[] | undefined {
  const text = language === undefined ? '' : beginningOf(lines)
  const [last, setLast] = useState<{ key: string; coloured: ColouredLine[] | null }>()
  const key = `${language}\n${text}`
  const known = language === undefined || last?.key === key ? undefined : knownColours(text, language)
  const isNeeded = language !== undefined && text !== '' && last?.key !== key && known === undefined
  useEffect(() => {
    if (!isNeeded || language === undefined) return
    const ended = new AbortController()
    const timer = setTimeout(() => {
      void colour(text, language, ended.signal).then((coloured) => {
        if (coloured !== undefined && !ended.signal.aborted) setLast({ key: `${language}\n${text}`, coloured })
      })
    }, restMs)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [text, language, isNeeded])
  return (known ?? (last?.key === key ? last.coloured : undefined)) || undefined
}

/** The lines that are coloured. */
function beginningOf(lines: string[]): string {
  let characters = 0
  const end = lines.findIndex((line) => {
    characters += line.length + 1
    return characters > mostColoured.characters
  })
  return lines.slice(0, Math.min(end < 0 ? lines.length : end, mostColoured.lines)).join('\n')
}
