import { RotateCcw } from 'lucide-react'
import { Suspense, memo, useMemo } from 'react'
import type { Run, Schemas } from '../../lib/api.ts'
import { type Source, citationsIn, withoutHalfCitation } from '../../lib/citations.ts'
import { type Turn as TurnData, passagesOf, textOfAnswer } from '../../lib/conversation.ts'
import { runErrorMessage } from '../../lib/error-messages.ts'
import { type Followed, follow } from '../../lib/run-followers.ts'
import { webPagesOf } from '../../lib/web-pages.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Notice } from '../../ui/notice.tsx'
import { Approval } from './approval.tsx'
import { MessageIdContext } from './documents/context.ts'
import { Markdown } from './markdown.tsx'
import { Question } from './question.tsx'
import { MarksContext } from './sources/marks.tsx'
import { SourcesLine } from './sources/sources-line.tsx'
import { Thinking } from './thinking.tsx'
import { ToolCall } from './tool-call.tsx'
import { TurnFoot } from './turn-foot.tsx'
import { type Beside, type TurnActions, isGoingOn } from './turn-parts.ts'

const SideBySide = lazyPart(() => import('./side-by-side.tsx'))
const WebCards = lazyPart(() => import('./sources/web-cards.tsx'))
const t = texts.chat

interface TurnProps {
  turn: TurnData
  /** Who wrote the question, in a chat that others see. */
  author?: Schemas['Maker'] | undefined
  followed: Followed | undefined
  /** Changes of the chat are possible while no answer is under way. */
  canChange: boolean
  /** Whether the user may decide and give feedback. */
  canChat?: boolean
  waitsFor?: string
  /** The chat, if a second model answers this question beside it. */
  beside?: Beside | undefined
  actions: TurnActions
}

/** A question and its answers; drawn again only when something in it has changed. */
export const Turn = memo(
  ({ turn, author, followed, canChange, canChat = true, waitsFor = t.waitsForAnswer, beside, actions }: TurnProps) => {
    const { onVersion, onSource, onEditAnswer } = actions
    const onEdit = () => actions.onEdit(turn)
    const onRetry = () => actions.onRetry(turn)
    const { human, answers, run } = turn
    const isActive = isGoingOn(run, followed)
    const error = followed?.snapshot?.error ?? run?.error ?? undefined
    const isShown = (answers.length > 0 || isActive || error !== undefined) && !turn.isWaiting
    const article = (
      <article className="turn-ai" aria-label={t.assistant} aria-busy={isActive}>
        <Answers turn={turn} isActive={isActive} onSource={onSource} />
        <Connection run={run} followed={followed} />
        {run && canChat && <WaitingCalls run={run} turn={turn} />}
        {error && !isActive && <Failure error={error} onRetry={canChange ? onRetry : undefined} />}
        {!isActive && answers.length > 0 && run?.status !== 'interrupted' && (
          <TurnFoot
            run={run}
            text={answers.map(textOfAnswer).join('\n\n')}
            messageId={answers.at(-1)?.data.id ?? ''}
            canRate={canChat}
            onRegenerate={human && canChange ? onRetry : undefined}
            onEdit={canChange && onEditAnswer ? () => onEditAnswer(turn) : undefined}
            onOtherModel={human && canChange ? (model) => actions.onRetry(turn, model) : undefined}
          />
        )}
      </article>
    )
    return (
      <>
        <Question
          turn={turn}
          author={author}
          onEdit={canChange ? onEdit : undefined}
          waitsFor={waitsFor}
          onVersion={onVersion}
        />
        {isShown &&
          (beside ? (
            <Suspense fallback={article}>
              <SideBySide
                turn={turn}
                isActive={isActive}
                chat={beside}
                drawTurn={(one, itsFollowed) => (
                  <Turn turn={one} followed={itsFollowed} canChange={false} actions={actions} />
                )}
              >
                {article}
              </SideBySide>
            </Suspense>
          ) : (
            article
          ))}
      </>
    )
  },
)
Turn.displayName = 'Turn'

interface AnswersProps {
  turn: TurnData
  isActive: boolean
  onSource: (source: Source, sources: Source[]) => void
}

function Answers({ turn, isActive, onSource }: AnswersProps) {
  const { answers, results, run } = turn
  const passages = passagesOf(turn)
  const written = answers.map((answer) => {
    const text = textOfAnswer(answer)
    return isActive ? withoutHalfCitation(text, passages) : text
  })
  const key = JSON.stringify([written, passages.map(({ file_id: id, text }) => [id, text.length])])
  // What is computed depends on nothing else.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const { texts: cited, marks, sources } = useMemo(() => citationsIn(written, passages), [key])
  const context = useMemo(
    () => ({ marks, onOpen: (source: Source) => onSource(source, sources) }),
    [marks, sources, onSource],
  )
  const last = answers.at(-1)
  const pages = isActive ? [] : webPagesOf(turn, written.join('\n'))
  return (
    <MarksContext value={context}>
      {answers.map(({ data }, index) => (
        <div key={data.id} className="stack-small" data-message={data.id} tabIndex={-1}>
          {data.reasoning && (
            <Thinking
              text={data.reasoning}
              took={data.reasoning_seconds}
              isThinking={isActive && data === last?.data && !written[index] && !data.tool_calls?.length}
            />
          )}
          {written[index] && (
            <div className={isActive && data === last?.data && !data.tool_calls?.length ? 'caret' : undefined}>
              <MessageIdContext value={data.id}>
                <Markdown text={cited[index] ?? written[index]} />
              </MessageIdContext>
            </div>
          )}
          {data.tool_calls?.map((call, place) => (
            <ToolCall
              key={place}
              call={call}
              result={results.get(call)}
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
      {pages.length > 0 && !isActive && (
        <Suspense>
          <WebCards pages={pages} />
        </Suspense>
      )}
      {sources.length > 0 && !isActive && (
        <SourcesLine sources={sources} onOpen={(source) => onSource(source, sources)} />
      )}
    </MarksContext>
  )
}

function Connection({ run, followed }: { run: Run | undefined; followed: Followed | undefined }) {
  if (followed?.snapshot?.connection === 'reconnecting' && !followed.isOver)
    return <Notice tone="warn">{t.reconnecting}</Notice>
  if (!run || followed?.problem === undefined) return undefined
  return (
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
  )
}

function WaitingCalls({ run, turn: { answers, results } }: { run: Run; turn: TurnData }) {
  if (run.status !== 'interrupted') return undefined
  const calls = answers.flatMap(({ data }) => data.tool_calls ?? []).filter((call) => !results.has(call))
  return calls.length > 0 ? <Approval run={run} calls={calls} /> : undefined
}

/** Shown while nothing visible changes: neither growing text nor a running call. */
function needsThinking({ answers, results }: TurnData): boolean {
  const last = answers.at(-1)
  if (!last) return true
  const calls = last.data.tool_calls ?? []
  if (calls.length > 0) return calls.every((call) => results.has(call))
  return textOfAnswer(last) === '' && !last.data.reasoning
}

function Failure({ error, onRetry }: { error: Schemas['RunError']; onRetry: (() => void) | undefined }) {
  const isStopped = error.type === 'cancelled'
  return (
    <Notice tone={isStopped ? 'plain' : 'danger'}>
      <div className="stack-small">
        <strong>{isStopped ? t.stopped : t.failed}</strong>
        {!isStopped && <div>{runErrorMessage(error.type)}</div>}
        {!isStopped && (
          <details>
            <summary>{t.details}</summary>
            <pre className="code-block code-wrapped">{[error.message, error.details].filter(Boolean).join('\n\n')}</pre>
          </details>
        )}
        {onRetry && (
          <div>
            <Button size="small" onClick={onRetry}>
              <RotateCcw size={14} aria-hidden="true" />
              {t.retry}
            </Button>
          </div>
        )}
      </div>
    </Notice>
  )
}
