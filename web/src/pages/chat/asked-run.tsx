import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, keys, orNull, type Schemas, unwrap } from '../../lib/api.ts'
import { type ToolMessage, textOfAnswer, turnsOf } from '../../lib/conversation.ts'
import { useFollowed } from '../../lib/run-followers.ts'
import { texts } from '../../texts/index.ts'
import { Notice } from '../../ui/notice.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { Markdown } from './markdown.tsx'

const t = texts.chat
const pollEveryMs = 1500

interface AskedRunProps {
  runId: string
  threadId: string
  /** Of the assistant that was asked. */
  name: string
  question: string
  /** What the assistant that asked was told, once it was. */
  result: ToolMessage | undefined
  /** Shows a call of the assistant that was asked. */
  renderCall: (call: Schemas['ToolCall'], result: ToolMessage | undefined, isWaiting: boolean) => ReactNode
}

/** The run in which another assistant answers: the question, its tool calls and its answer. */
export default function AskedRun({ runId, threadId, name, question, result, renderCall }: AskedRunProps) {
  const isOpen = result === undefined
  const followedOf = useFollowed()
  const run = useQuery({
    queryKey: ['asked-run', runId, isOpen],
    // It begins a moment after it is named.
    refetchInterval: isOpen ? pollEveryMs : false,
    retry: false,
    queryFn: () => orNull(unwrap(api.GET('/runs/{run_id}', { params: { path: { run_id: runId } } }))),
  })
  const state = useQuery({
    queryKey: [...keys.state(threadId), isOpen],
    enabled: run.data !== null && run.data !== undefined,
    refetchInterval: isOpen ? pollEveryMs : false,
    queryFn: () => unwrap(api.GET('/threads/{tid}/state', { params: { path: { tid: threadId } } })),
  })
  if (run.isPending) return <Skeleton lines={2} />
  const { turns } = turnsOf({
    stored: state.data?.values.messages ?? [],
    runs: run.data ? [run.data] : [],
    sent: [],
    followedOf,
    last: undefined,
  })
  const turn = turns.at(-1)
  return (
    <div className="stack-small">
      <div className="field-label">{t.askedQuestion}</div>
      <p>{question}</p>
      {turn?.answers.map((answer) => (
        <div key={answer.data.id} className="stack-small">
          {answer.data.tool_calls?.map((call) =>
            renderCall(call, turn.results.get(call), run.data?.status === 'interrupted'),
          )}
          {textOfAnswer(answer) !== '' && (
            <>
              <div className="field-label">{t.askedAnswer(name)}</div>
              <Markdown text={textOfAnswer(answer)} />
            </>
          )}
        </div>
      ))}
      {isOpen && !turn?.answers.length && <p className="muted small">{t.askedWaits}</p>}
      {result && !result.data.content.startsWith('{"answer"') && <Notice tone="warn">{result.data.content}</Notice>}
    </div>
  )
}
