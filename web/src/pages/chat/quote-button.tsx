import { TextQuote } from 'lucide-react'
import { useEffect, useState } from 'react'
import { composeInto } from '../../lib/composed.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'

/** Longer passages are cut. */
const longestQuote = 4000
/** Above the selection, within the window. */
const height = 44

interface Selected {
  text: string
  x: number
  y: number
}

/** Beside a passage of an answer that is selected: puts it as a quote into the field, to ask about it. */
export default function QuoteButton({ chat }: { chat: string }) {
  const [selected, setSelected] = useState<Selected>()
  useEffect(() => {
    const look = () => setSelected(selectedAnswer())
    const hide = () => setSelected(undefined)
    // Not at each letter: when the selection is made.
    document.addEventListener('pointerup', look)
    document.addEventListener('keyup', look)
    document.addEventListener('scroll', hide, true)
    look()
    return () => {
      document.removeEventListener('pointerup', look)
      document.removeEventListener('keyup', look)
      document.removeEventListener('scroll', hide, true)
    }
  }, [])
  if (selected === undefined) return undefined
  const ask = () => {
    composeInto(chat, quoted(selected.text))
    document.getSelection()?.removeAllRanges()
    setSelected(undefined)
  }
  return (
    <div
      className="quote-button"
      ref={(element) => {
        // Styles as attributes are not allowed to pages; as members of elements they are.
        element?.style.setProperty('left', `${selected.x}px`)
        element?.style.setProperty('top', `${selected.y}px`)
      }}
    >
      <Button size="small" onMouseDown={(event) => event.preventDefault()} onClick={ask}>
        <TextQuote size={15} aria-hidden="true" />
        {texts.chat.askAbout}
      </Button>
    </div>
  )
}

function selectedAnswer(): Selected | undefined {
  const selection = document.getSelection()
  const text = selection?.toString().trim() ?? ''
  if (selection === null || selection.rangeCount === 0 || text === '') return undefined
  const isInAnswer = [selection.anchorNode, selection.focusNode].every((node) =>
    Boolean(node?.parentElement?.closest('.turn-ai .markdown')),
  )
  if (!isInAnswer) return undefined
  const { left, width, top } = selection.getRangeAt(0).getBoundingClientRect()
  const x = Math.min(Math.max(left + width / 2, 90), window.innerWidth - 90)
  return { text: text.slice(0, longestQuote), x, y: Math.max(top - height, 8) }
}

/** As a quote of Markdown, with room for the question. */
function quoted(text: string): string {
  return `${text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')}\n\n`
}
