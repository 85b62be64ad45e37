import { useEffect, useState } from 'react'
import { type Turn, textOfAnswer } from '../../lib/conversation.ts'
import { spokenBeginningOf } from '../../lib/spoken-text.ts'
import { texts } from '../../texts/index.ts'

const t = texts.chat

/** Runs whose end was announced. An answer may have ended before its chat is first shown, and a chat may be opened again. */
const announced = new Set<string>()

interface Props {
  turns: Turn[]
  isBusy: boolean
  /** Whether this page saw the run, as opposed to one that ended before. */
  isFollowed: (runId: string) => boolean
}

/** Announces to screen readers how an answer has ended, and reads it; also that it waits for a decision. */
export function Announcement({ turns, isBusy, isFollowed }: Props) {
  const [words, setWords] = useState('')
  const last = turns.at(-1)
  const run = last?.run
  const isSettled = !isBusy && run?.status !== 'running' && run?.status !== 'pending'
  const hasEnded = isSettled && run !== undefined && isFollowed(run.run_id)
  useEffect(() => {
    if (isBusy) {
      setWords(t.thinking)
      if (run) announced.delete(run.run_id)
    } else if (hasEnded && run && !announced.has(run.run_id)) {
      announced.add(run.run_id)
      setWords(outcomeOf(last))
    }
  }, [isBusy, hasEnded, run, last])
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
      return [
        t.answerReady,
        ...(turn?.answers.slice(-1) ?? []).map((said) => spokenBeginningOf(textOfAnswer(said))),
      ].join(' ')
  }
}
