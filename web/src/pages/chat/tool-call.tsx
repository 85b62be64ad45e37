import {
  ChevronRight,
  CircleX,
  Clock,
  FileSearch,
  Globe,
  type LucideIcon,
  MessagesSquare,
  SquareTerminal,
  Wrench,
} from 'lucide-react'
import { Suspense, useState } from 'react'
import type { Schemas } from '../../lib/api.ts'
import type { ToolMessage } from '../../lib/conversation.ts'
import { markNumbers, shownJson } from '../../lib/exact-numbers.ts'
import { percentOf } from '../../lib/format.ts'
import { parsePassages } from '../../lib/passages.ts'
import { pagesOf } from '../../lib/places.ts'
import { toolTitle } from '../../lib/tool-title.ts'
import { texts } from '../../texts/index.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import { PassageText } from '../../ui/passage-text.tsx'
import { Skeleton } from '../../ui/states.tsx'

const t = texts.chat
const AskedRun = lazyPart(() => import('./asked-run.tsx'))
const CodeCall = lazyPart(() => import('./code-call.tsx'))

interface ToolCallProps {
  call: Schemas['ToolCall']
  result: ToolMessage | undefined
  isWaiting: boolean
  isRunning: boolean
}

type CallState = keyof typeof t.toolWords

function stateOf({ result, isWaiting, isRunning }: Omit<ToolCallProps, 'call'>): CallState {
  if (result?.data.rejected) return 'rejected'
  if (result !== undefined) return result.data.failed ? 'failed' : 'done'
  if (isWaiting) return 'waiting'
  return isRunning ? 'running' : 'done'
}

/** What a call does, in words. */
function headOf(
  { name, args, run_id: askedRunId }: Schemas['ToolCall'],
  state: CallState,
): { icon: LucideIcon; title: string } {
  const words = t.toolWords[state]
  const { query, file, assistant, code } = args
  if (name === 'retrieval' && typeof query === 'string') {
    const wanted = typeof file === 'string' ? file.trim() : ''
    return { icon: FileSearch, title: wanted === '' ? words.search(query) : words.read(wanted) }
  }
  if (name === 'web_search' && typeof query === 'string') return { icon: Globe, title: words.web(query) }
  if (askedRunId !== undefined && typeof assistant === 'string')
    return { icon: MessagesSquare, title: words.ask(assistant) }
  if (name === 'code' && typeof code === 'string') return { icon: SquareTerminal, title: words.code }
  return { icon: Wrench, title: words.call(toolTitle(name)) }
}

/** A tool call in one line; opens to show its arguments and its result. */
export function ToolCall({ call, ...progress }: ToolCallProps) {
  const { run_id: askedRunId, thread_id: askedThreadId } = call
  const asked = call.args['assistant']
  const question = typeof call.args['question'] === 'string' ? call.args['question'] : ''
  const isQuestion = askedRunId !== undefined && typeof asked === 'string'
  const code = call.name === 'code' && typeof call.args['code'] === 'string' ? call.args['code'] : undefined
  const [isOpen, setIsOpen] = useState(false)
  const state = stateOf(progress)
  const { icon, title } = headOf(call, state)
  return (
    <details className="tool-call" data-state={state} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <CallIcon state={state} icon={icon} />
        <span className="truncate">{title}</span>
        <ChevronRight size={14} className="chevron" aria-hidden="true" />
      </summary>
      <div className="tool-body">
        {code !== undefined ? (
          isOpen && (
            <Suspense fallback={<Skeleton lines={2} />}>
              <CodeCall code={code} result={progress.result} />
            </Suspense>
          )
        ) : isQuestion && askedThreadId !== undefined && isOpen ? (
          <Suspense fallback={<Skeleton lines={2} />}>
            <AskedRun
              runId={askedRunId}
              threadId={askedThreadId}
              name={asked}
              question={question}
              result={progress.result}
              renderCall={(inner, result, isWaiting) => (
                <ToolCall
                  key={inner.id}
                  call={inner}
                  result={result}
                  isWaiting={isWaiting}
                  isRunning={progress.result === undefined}
                />
              )}
            />
          </Suspense>
        ) : (
          <ArgumentsAndResult args={call.args} result={progress.result} />
        )}
      </div>
    </details>
  )
}

function ArgumentsAndResult({ args, result }: { args: object; result: ToolMessage | undefined }) {
  return (
    <>
      <div className="field-label">{t.arguments}</div>
      <pre className="code-block" role="region" tabIndex={0} aria-label={t.arguments}>
        {shownJson(args)}
      </pre>
      {result && (
        <>
          <div className="field-label">{t.result}</div>
          <ToolResult content={result.data.content} />
        </>
      )}
    </>
  )
}

function CallIcon({ state, icon }: { state: CallState; icon: LucideIcon }) {
  if (state === 'running') return <span className="spinner" aria-hidden="true" />
  const Icon = state === 'waiting' ? Clock : state === 'rejected' || state === 'failed' ? CircleX : icon
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
              {passage.page === undefined ? '' : `, ${pagesOf(passage)}`} · {t.score(percentOf(passage.score))}
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
    JSON.parse(content)
    return shownJson(JSON.parse(markNumbers(content)))
  } catch {
    return content
  }
}
