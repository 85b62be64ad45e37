import { useEffect, useRef, useState } from 'react'
import type { Turn } from '../../lib/conversation.ts'
import { texts } from '../../texts/index.ts'

const t = texts.chat

/** Announces to screen readers that an answer is complete, and reads it. */
export function Announcement({ turns, isBusy }: { turns: Turn[]; isBusy: boolean }) {
  const wasBusy = useRef(false)
  const [words, setWords] = useState('')
  useEffect(() => {
    if (isBusy && !wasBusy.current) setWords(t.thinking)
    if (!isBusy && wasBusy.current) {
      const last = turns.at(-1)
      const isFailed = last?.run?.status === 'error'
      setWords(
        isFailed ? t.answerFailed : `${t.answerReady} ${last?.answers.at(-1)?.data.content.slice(0, 1000) ?? ''}`,
      )
    }
    wasBusy.current = isBusy
  }, [isBusy, turns])
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {words}
    </div>
  )
}
