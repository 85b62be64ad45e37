import { useEffect, useRef, useState } from 'react'
import { type Turn, textOfAnswer } from '../../lib/conversation.ts'
import { texts } from '../../texts/index.ts'

const t = texts.chat

/** Announces to screen readers how an answer has ended, and reads it; also that it waits for a decision. */
export function Announcement({ turns, isBusy }: { turns: Turn[]; isBusy: boolean }) {
  const wasBusy = useRef(false)
  const [words, setWords] = useState('')
  const last = turns.at(-1)
  const isSettled = !isBusy && last?.run?.status !== 'running' && last?.run?.status !== 'pending'
  useEffect(() => {
    if (isBusy) {
      if (!wasBusy.current) setWords(t.thinking)
      wasBusy.current = true
    } else if (wasBusy.current && isSettled) {
      wasBusy.current = false
      setWords(outcomeOf(last))
    }
  }, [isBusy, isSettled, last])
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {words}
    </div>
  )
}

function outcomeOf(turn: Turn | undefined): string {
  switch (turn?.run?.status) {
    case 'interrupted':
      return t.answerWaits
    case 'cancelled':
      return t.answerStopped
    case 'error':
      return turn.run.error?.type === 'cancelled' ? t.answerStopped : t.answerFailed
    default:
      return [t.answerReady, ...(turn?.answers.slice(-1) ?? []).map((said) => textOfAnswer(said).slice(0, 1000))].join(
        ' ',
      )
  }
}
