import { Pencil, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import type { Run, Schemas } from '../../lib/api.ts'
import { type Turn as TurnData, passagesOf } from '../../lib/conversation.ts'
import { type Passage, pagesOf, withCitations } from '../../lib/passages.ts'
import { type Followed, follow } from '../../lib/run-followers.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PassageText } from '../../ui/passage-text.tsx'
import { Approval } from './approval.tsx'
import { Markdown } from './markdown.tsx'
import { ToolCall } from './tool-call.tsx'
import { TurnFoot } from './turn-foot.tsx'

const t = texts.chat

interface TurnProps {
  turn: TurnData
  followed: Followed | undefined
  onEdit: () => void
  onRetry: () => void
  onRegenerate: () => void
}

/** A question and its answers. */
export function Turn({ turn, followed, onEdit, onRetry, onRegenerate }: TurnProps) {
  const [passage, setPassage] = useState<Passage>()
  const { human, answers, results, run } = turn
  const isActive = isGoingOn(run, followed)
  const passages = passagesOf(turn)
  const waitingCalls =
    run?.status === 'interrupted'
      ? answers.flatMap(({ data }) => data.tool_calls ?? []).filter(({ id }) => !results.has(id))
      : []
  const last = answers.at(-1)
  const error = followed?.snapshot?.error ?? run?.error ?? undefined
  return (
    <>
      {human && (
        <article className="turn-human" aria-label={t.you}>
          <div className={turn.isWaiting ? 'bubble bubble-waiting' : 'bubble'}>{human.data.content}</div>
          <div className="turn-tools">
            {turn.isWaiting ? (
              t.waitingTurn
            ) : (
              <IconButton label={t.editMessage} icon={<Pencil size={15} />} onClick={onEdit} />
            )}
          </div>
        </article>
      )}
      {(answers.length > 0 || isActive || error) && !turn.isWaiting && (
        <article className="turn-ai" aria-label={texts.chat.assistant} aria-busy={isActive}>
          {answers.map(({ data }) => (
            <div key={data.id} className="stack-small">
              {data.content && (
                <div className={isActive && data === last?.data && !data.tool_calls?.length ? 'caret' : undefined}>
                  <Markdown
                    text={withCitations(data.content, passages)}
                    onPassage={(index) => setPassage(passages[index])}
                  />
                </div>
              )}
              {data.tool_calls?.map((call) => (
                <ToolCall
                  key={call.id}
                  call={call}
                  result={results.get(call.id)}
                  isWaiting={run?.status === 'interrupted'}
                  isRunning={isActive}
                />
              ))}
              {data.cut === 'length' && <Notice tone="warn">{t.cutLength}</Notice>}
              {data.cut === 'content_filter' && <Notice tone="warn">{t.cutFilter}</Notice>}
            </div>
          ))}
          {isActive && needsThinking(turn) && (
            <div className="thinking">
              <span className="spinner" aria-hidden="true" />
              {t.thinking}
            </div>
          )}
          {followed?.snapshot?.connection === 'reconnecting' && !followed.isOver && (
            <Notice tone="warn">{t.reconnecting}</Notice>
          )}
          {run && followed?.problem !== undefined && (
            <Notice tone="warn">
              <div className="stack-small">
                {t.lost}
                <div>
                  <Button size="small" onClick={() => follow(run.run_id, run.thread_id, { again: true })}>
                    {t.reconnect}
                  </Button>
                </div>
              </div>
            </Notice>
          )}
          {run && waitingCalls.length > 0 && <Approval run={run} calls={waitingCalls} />}
          {error && !isActive && <Failure error={error} onRetry={onRetry} />}
          {passages.length > 0 && !isActive && <Sources passages={passages} onOpen={setPassage} />}
          {!isActive && last && run?.status !== 'interrupted' && (
            <TurnFoot
              run={run}
              text={answers.map(({ data }) => data.content).join('\n\n')}
              onRegenerate={human && onRegenerate}
            />
          )}
        </article>
      )}
      {passage && (
        <Dialog title={t.passage(passage.file_name)} onClose={() => setPassage(undefined)} wide>
          <div className="muted small">
            {[pagesOf(passage), passage.heading, t.score(passage.score)].filter(Boolean).join(' · ')}
          </div>
          <blockquote className="passage">
            <PassageText {...passage} />
          </blockquote>
        </Dialog>
      )}
    </>
  )
}

export function isGoingOn(run: Run | undefined, followed: Followed | undefined): boolean {
  if (followed) return !followed.isOver
  return run?.status === 'running' || run?.status === 'pending'
}

/** Shown while nothing visible changes: neither growing text nor a running call. */
function needsThinking({ answers, results }: TurnData): boolean {
  const last = answers.at(-1)
  if (!last) return true
  const calls = last.data.tool_calls ?? []
  return calls.length > 0 ? calls.every(({ id }) => results.has(id)) : last.data.content === ''
}

function Failure({ error, onRetry }: { error: Schemas['RunError']; onRetry: () => void }) {
  const isStopped = error.type === 'cancelled'
  return (
    <Notice tone={isStopped ? 'plain' : 'danger'}>
      <div className="stack-small">
        <strong>{isStopped ? t.stopped : t.failed}</strong>
        {!isStopped && <div>{error.message}</div>}
        {!isStopped && error.details && (
          <details>
            <summary>{t.details}</summary>
            <pre className="code-block">{error.details}</pre>
          </details>
        )}
        <div>
          <Button size="small" onClick={onRetry}>
            <RotateCcw size={14} aria-hidden="true" />
            {t.retry}
          </Button>
        </div>
      </div>
    </Notice>
  )
}

function Sources({ passages, onOpen }: { passages: Passage[]; onOpen: (passage: Passage) => void }) {
  return (
    <div className="sources">
      <span className="small muted">{t.sources}</span>
      {passages.slice(0, 5).map((passage, index) => (
        <button key={passage.text} type="button" className="source" onClick={() => onOpen(passage)}>
          <strong>{index + 1}</strong>
          <span className="truncate">
            {passage.file_name}
            {passage.page === undefined ? '' : `, ${pagesOf(passage)}`}
          </span>
        </button>
      ))}
    </div>
  )
}
