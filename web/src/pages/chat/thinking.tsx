import { Brain, ChevronRight } from 'lucide-react'
import { useEffect, useState } from 'react'
import { texts } from '../../texts/index.ts'

const t = texts.chat

/** What the model thinks before it answers, in one line; it is open while the model thinks. */
export function Thinking({
  text,
  isThinking,
  took,
}: {
  text: string
  isThinking: boolean
  /** In seconds, as it was stored with the answer. */
  took: number | undefined
}) {
  const seen = useSeconds(isThinking)
  const seconds = isThinking ? seen : (took ?? seen)
  const [chosen, setChosen] = useState<boolean>()
  const isOpen = chosen ?? isThinking
  return (
    <details className="tool-call" data-state={isThinking ? 'running' : 'done'} open={isOpen}>
      <summary
        onClick={(event) => {
          event.preventDefault()
          setChosen(!isOpen)
        }}
      >
        {isThinking ? <span className="spinner" aria-hidden="true" /> : <Brain size={15} aria-hidden="true" />}
        <span className="truncate">{thinkingWords(isThinking, seconds)}</span>
        <ChevronRight size={14} className="chevron" aria-hidden="true" />
      </summary>
      <div className="tool-body thought">{text}</div>
    </details>
  )
}

/** The seconds since this was first shown while `isRunning`, up to its end; undefined if nobody saw it run. */
function useSeconds(isRunning: boolean): number | undefined {
  const [begun] = useState(() => (isRunning ? Date.now() : undefined))
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    if (!isRunning || begun === undefined) return
    const count = () => setSeconds(Math.round((Date.now() - begun) / 1000))
    const timer = setInterval(count, 1000)
    return () => {
      clearInterval(timer)
      count()
    }
  }, [isRunning, begun])
  return begun === undefined ? undefined : seconds
}

function thinkingWords(isThinking: boolean, seconds: number | undefined): string {
  if (isThinking) return t.thinkingFor(seconds ?? 0)
  return seconds ? t.thoughtFor(seconds) : t.thought
}
