import '../../styles/side-by-side.css'
import { useQuery } from '@tanstack/react-query'
import { Check, Square } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { api, keys, unwrap, wordsOf } from '../../lib/api.ts'
import { keepSide, putAside, stopSide } from '../../lib/beside.ts'
import { type Turn as TurnData, turnsOf } from '../../lib/conversation.ts'
import { type Followed, follow, useFollowed } from '../../lib/run-followers.ts'
import { type Side, sidesIn } from '../../lib/sides.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { besideMessages as t } from '../../texts/beside.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { type Beside, isGoingOn } from './turn-parts.ts'

interface SideBySideProps {
  turn: TurnData
  /** Whether the answer of the chat is under way. */
  isActive: boolean
  chat: Beside
  drawTurn: (turn: TurnData, followed: Followed | undefined) => ReactNode
  /** The answer of the chat. */
  children: ReactNode
}

/** The answers of two models to one question, beside each other; on a phone one under the other. One of them is kept. */
export default function SideBySide({ turn, isActive, chat, drawTurn, children }: SideBySideProps) {
  const threadId = chat.thread.data?.thread_id ?? ''
  const side = sidesIn(chat.sides).find(({ questionId }) => questionId === turn.human?.data.id)
  const beside = useSide(side)
  const keeping = useSubmit(async () => {
    if (side) await keepSide(threadId, side)
  })
  if (side === undefined) return children
  const first = turn.run?.model ?? t.first
  if (side.isAside)
    return (
      <>
        {children}
        <p className="muted small">
          {t.isAside(side.model)}{' '}
          <button type="button" className="link-button" onClick={() => putAside(threadId, side, false)}>
            {t.showBoth}
          </button>
        </p>
      </>
    )
  const isOpen = isActive || beside.isActive
  return (
    <div className="side-by-side">
      <section aria-label={t.answerOf(first)}>
        <header>
          <h2 className="truncate">{first}</h2>
          {isActive && <Stop label={t.stop(first)} onStop={chat.stop} />}
        </header>
        {children}
        {!isActive && turn.answers.length > 0 && (
          <Keep
            label={t.keep(first)}
            onKeep={() => {
              putAside(threadId, side, true)
              if (beside.isActive) void stopSide(side)
            }}
          />
        )}
      </section>
      <section aria-label={t.answerOf(side.model)}>
        <header>
          <h2 className="truncate">{side.model}</h2>
          {beside.isActive && <Stop label={t.stop(side.model)} onStop={() => void stopSide(side)} />}
        </header>
        {beside.error && <Notice tone="danger">{wordsOf(beside.error, texts.offline)}</Notice>}
        {beside.turn ? drawTurn(beside.turn, beside.followed) : !beside.error && <Skeleton lines={3} />}
        {keeping.problem && <Notice tone="danger">{keeping.problem}</Notice>}
        {!isOpen && !!beside.turn?.answers.length && (
          <form onSubmit={keeping.onSubmit}>
            <Keep label={t.keep(side.model)} isBusy={keeping.isBusy} />
          </form>
        )}
      </section>
    </div>
  )
}

const noResults: TurnData['results'] = new Map()

/** The answer beside, as it is now. */
function useSide(side: Side | undefined) {
  const threadId = side?.threadId ?? ''
  const runId = side?.runId ?? ''
  const followedOf = useFollowed()
  const run = useQuery({
    queryKey: keys.runs(threadId),
    enabled: side !== undefined,
    queryFn: () => unwrap(api.GET('/threads/{tid}/runs', { params: { path: { tid: threadId }, query: { limit: 1 } } })),
  })
  const state = useQuery({
    queryKey: keys.state(threadId),
    enabled: side !== undefined,
    queryFn: () => unwrap(api.GET('/threads/{tid}/state', { params: { path: { tid: threadId } } })),
  })
  const stored = run.data?.runs.find(({ run_id: id }) => id === runId)
  const isOpen = stored?.status === 'pending' || stored?.status === 'running'
  useEffect(() => {
    // After a reload of the page.
    if (isOpen) follow(runId, threadId)
  }, [isOpen, runId, threadId])
  const { turns } = turnsOf({
    stored: state.data?.values.messages ?? [],
    runs: stored ? [stored] : [],
    sent: [],
    followedOf,
    last: undefined,
  })
  const newest = turns.at(-1)
  const followed = followedOf(runId)
  // Before its first word, what stands there is what was said before.
  const isIts = newest?.run !== undefined && newest.run.run_id === runId
  const hasBegun = newest?.answers.some(({ data }) => data.id.startsWith(runId)) ?? false
  const answers = isIts && hasBegun ? newest.answers.filter(({ data }) => data.id.startsWith(runId)) : []
  const turn: TurnData | undefined = stored && {
    human: undefined,
    answers,
    results: (hasBegun ? newest?.results : undefined) ?? noResults,
    run: stored,
    isWaiting: false,
    versions: { ids: [], after: null },
  }
  return { turn, followed, isActive: isGoingOn(stored, followed), error: run.error ?? state.error }
}

function Stop({ label, onStop }: { label: string; onStop: () => void }) {
  return (
    <Button size="small" aria-label={label} onClick={onStop}>
      <Square size={12} fill="currentColor" aria-hidden="true" />
      {texts.chat.stop}
    </Button>
  )
}

/** Without `onKeep` it sends its form. */
function Keep({ label, isBusy, onKeep }: { label: string; isBusy?: boolean; onKeep?: () => void }) {
  return (
    <Button
      size="small"
      type={onKeep ? 'button' : 'submit'}
      busy={isBusy ?? false}
      aria-label={label}
      {...(onKeep && { onClick: onKeep })}
    >
      <Check size={14} aria-hidden="true" />
      {t.keepThis}
    </Button>
  )
}
