import { ChevronRight, CircleCheck, Clock, FileSearch, Wrench } from 'lucide-react'
import type { Schemas } from '../../lib/api.ts'
import type { ToolMessage } from '../../lib/conversation.ts'
import { pagesOf, parsePassages } from '../../lib/passages.ts'
import { texts } from '../../texts/index.ts'
import { PassageText } from '../../ui/passage-text.tsx'

const t = texts.chat

interface ToolCallProps {
  call: Schemas['ToolCall']
  result: ToolMessage | undefined
  isWaiting: boolean
  isRunning: boolean
}

/** One tool call; opens to show its arguments and its result. */
export function ToolCall({ call, result, isWaiting, isRunning }: ToolCallProps) {
  const query = call.args['query']
  const isSearch = call.name === 'retrieval' && typeof query === 'string'
  const words = t.toolWords[result !== undefined ? 'done' : isWaiting ? 'waiting' : isRunning ? 'running' : 'done']
  const Icon = isSearch ? FileSearch : Wrench
  return (
    <details className="tool-call">
      <summary>
        <ChevronRight size={16} className="chevron" aria-hidden="true" />
        <Icon size={16} aria-hidden="true" />
        <span className="grow truncate">{isSearch ? words.search(query) : words.call(call.name)}</span>
        <CallState isDone={result !== undefined} isWaiting={isWaiting} isRunning={isRunning} />
      </summary>
      <div className="tool-body">
        <div className="field-label">{t.arguments}</div>
        <pre className="code-block" role="region" tabIndex={0} aria-label={t.arguments}>
          {JSON.stringify(call.args, undefined, 2)}
        </pre>
        {result && (
          <>
            <div className="field-label">{t.result}</div>
            <ToolResult content={result.data.content} />
          </>
        )}
      </div>
    </details>
  )
}

function CallState({ isDone, isWaiting, isRunning }: { isDone: boolean; isWaiting: boolean; isRunning: boolean }) {
  if (isDone)
    return (
      <span className="badge badge-ok">
        <CircleCheck size={13} aria-hidden="true" /> {t.toolDone}
      </span>
    )
  if (isWaiting)
    return (
      <span className="badge badge-warn">
        <Clock size={13} aria-hidden="true" /> {t.toolWaiting}
      </span>
    )
  if (!isRunning) return undefined
  return (
    <span className="badge badge-accent">
      <span className="spinner" aria-hidden="true" /> {t.toolRunning}
    </span>
  )
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
