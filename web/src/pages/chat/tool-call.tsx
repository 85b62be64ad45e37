import { ChevronRight, CircleX, Clock, FileSearch, Wrench } from 'lucide-react'
import type { Schemas } from '../../lib/api.ts'
import type { ToolMessage } from '../../lib/conversation.ts'
import { parsePassages } from '../../lib/passages.ts'
import { pagesOf } from '../../lib/places.ts'
import { texts } from '../../texts/index.ts'
import { PassageText } from '../../ui/passage-text.tsx'

const t = texts.chat

interface ToolCallProps {
  call: Schemas['ToolCall']
  result: ToolMessage | undefined
  isWaiting: boolean
  isRunning: boolean
}

type CallState = keyof typeof t.toolWords

function stateOf({ result, isWaiting, isRunning }: Omit<ToolCallProps, 'call'>): CallState {
  if (result !== undefined) return result.data.rejected ? 'rejected' : 'done'
  if (isWaiting) return 'waiting'
  return isRunning ? 'running' : 'done'
}

/** A tool call in one line; opens to show its arguments and its result. */
export function ToolCall({ call, ...progress }: ToolCallProps) {
  const query = call.args['query']
  const isSearch = call.name === 'retrieval' && typeof query === 'string'
  const state = stateOf(progress)
  const words = t.toolWords[state]
  return (
    <details className="tool-call" data-state={state}>
      <summary>
        <CallIcon state={state} isSearch={isSearch} />
        <span className="truncate">{isSearch ? words.search(query) : words.call(call.name)}</span>
        <ChevronRight size={14} className="chevron" aria-hidden="true" />
      </summary>
      <div className="tool-body">
        <div className="field-label">{t.arguments}</div>
        <pre className="code-block" role="region" tabIndex={0} aria-label={t.arguments}>
          {JSON.stringify(call.args, undefined, 2)}
        </pre>
        {progress.result && (
          <>
            <div className="field-label">{t.result}</div>
            <ToolResult content={progress.result.data.content} />
          </>
        )}
      </div>
    </details>
  )
}

function CallIcon({ state, isSearch }: { state: CallState; isSearch: boolean }) {
  if (state === 'running') return <span className="spinner" aria-hidden="true" />
  const Icon = state === 'waiting' ? Clock : state === 'rejected' ? CircleX : isSearch ? FileSearch : Wrench
  return <Icon size={15} aria-hidden="true" />
}

/** What a tool answered, as passages, JSON or text. */
export function ToolResult({ content }: { content: string }) {
  const passages = parsePassages(content)
  if (passages.length > 0)
    return (
      <ol className="stack-small">
        {passages.map((passage) => (
          <li key={passage.text}>
            <div className="small muted">
              {passage.file_name}
              {passage.page === undefined ? '' : `, ${pagesOf(passage)}`} · {t.score(passage.score)}
            </div>
            <div className="passage small">
              <PassageText {...passage} />
            </div>
          </li>
        ))}
      </ol>
    )
  return (
    <pre className="code-block" role="region" tabIndex={0} aria-label={t.result}>
      {pretty(content)}
    </pre>
  )
}

function pretty(content: string): string {
  try {
    return JSON.stringify(JSON.parse(content), undefined, 2)
  } catch {
    return content
  }
}
