import { Pencil, RotateCcw, Shuffle, ThumbsDown, ThumbsUp, Workflow } from 'lucide-react'
import { Suspense, use, useState } from 'react'
import { type Run, api, unwrap, useConsoleSettings, wordsOf } from '../../lib/api.ts'
import { sayingOf } from '../../lib/error-messages.ts'
import { formatCost, formatDateTime, formatSeconds, formatTime } from '../../lib/format.ts'
import { say } from '../../lib/toasts.ts'
import { toolTitle } from '../../lib/tool-title.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'
import { CopyIcon } from '../../ui/code-block.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Menu } from '../../ui/menu.tsx'
import { useModels } from '../../ui/model-picker.tsx'
import { Notice } from '../../ui/notice.tsx'
import { OpenDocumentContext } from './documents/context.ts'

const OpenDocument = lazyPart(() => import('./documents/open-document.tsx'))
const ThumbReason = lazyPart(() => import('./thumb-reason.tsx'))
const ReadAloud = lazyPart(() => import('./read-aloud.tsx'))
const t = texts.chat
/** Characters from which on an answer can be opened as a document. */
const longText = 1200

interface TurnFootProps {
  run: Run | undefined
  text: string
  messageId: string
  /** Whether the user may give feedback. */
  canRate: boolean
  onRegenerate: (() => void) | undefined
  onOtherModel: ((model: string) => void) | undefined
  onEdit: (() => void) | undefined
}

/** Below an answer: copy, feedback, duration, tokens, and the link to its workflow. */
export function TurnFoot({ run, text, messageId, canRate, onRegenerate, onOtherModel, onEdit }: TurnFootProps) {
  const settings = useConsoleSettings()
  const canOpen = use(OpenDocumentContext) !== undefined
  const facts: string[] = []
  // Without the time that people took to decide.
  if (run?.started_at && run.finished_at)
    facts.push(
      formatSeconds(new Date(run.finished_at).getTime() - new Date(run.started_at).getTime() - (run.waited_ms ?? 0)),
    )
  if (run?.usage) facts.push(t.tokens(run.usage.total_tokens))
  if (run?.cost) facts.push(formatCost(run.cost, run.currency))
  if (run?.model) facts.push(run.model)
  if (run?.finished_at)
    facts.push(isToday(run.finished_at) ? formatTime(run.finished_at) : formatDateTime(run.finished_at))
  return (
    <>
      {run?.warnings && (
        <Notice tone="warn">
          {t.leftOut} {run.warnings.map(leftOut).join(' ')}
        </Notice>
      )}
      <div className="turn-tools">
        <CopyIcon text={text} />
        {text.length > longText && canOpen && (
          <Suspense>
            <OpenDocument messageId={messageId} language="markdown" content={text} />
          </Suspense>
        )}
        {text !== '' && (
          <Suspense>
            <ReadAloud text={text} hasServer={settings?.can_speak ?? false} />
          </Suspense>
        )}
        {onRegenerate && <IconButton label={t.regenerate} icon={<RotateCcw size={15} />} onClick={onRegenerate} />}
        {onOtherModel && <OtherModels used={run?.model} onChoose={onOtherModel} />}
        {onEdit && <IconButton label={t.editAnswer} icon={<Pencil size={15} />} onClick={onEdit} />}
        {run && canRate && <Thumbs runId={run.run_id} />}
        {facts.length > 0 && <span className="turn-facts">{facts.join(' · ')}</span>}
        {run && <WorkflowLink threadId={run.thread_id} />}
      </div>
    </>
  )
}

/** The same question to another model; the answer becomes a version beside this one. */
function OtherModels({ used, onChoose }: { used: string | null | undefined; onChoose: (model: string) => void }) {
  const others = (useModels().data?.models ?? []).filter(({ id }) => id !== used)
  if (others.length === 0) return undefined
  return (
    <Menu
      align="start"
      trigger={<IconButton label={t.otherModel} icon={<Shuffle size={15} />} />}
      entries={others.map(({ id }) => ({ label: id, onSelect: () => onChoose(id) }))}
    />
  )
}

const isToday = (iso: string) => new Date(iso).toDateString() === new Date().toDateString()

function Thumbs({ runId }: { runId: string }) {
  const [given, setGiven] = useState<0 | 1>()
  const [isAsking, setAsking] = useState(false)
  const send = async (score: 0 | 1, why: { value?: string; comment?: string } = {}) => {
    await unwrap(api.POST('/runs/feedback', { body: { run_id: runId, key: 'thumb', score, ...why } }))
    setGiven(score)
    say(t.thanks)
  }
  return (
    <>
      <IconButton
        label={t.thumbUp}
        aria-pressed={given === 1}
        icon={<ThumbsUp size={15} fill={given === 1 ? 'currentColor' : 'none'} />}
        onClick={() => void send(1).catch((error: unknown) => say(wordsOf(error, texts.offline), 'danger'))}
      />
      <IconButton
        label={t.thumbDown}
        aria-pressed={given === 0}
        icon={<ThumbsDown size={15} fill={given === 0 ? 'currentColor' : 'none'} />}
        onClick={() => setAsking(true)}
      />
      {isAsking && (
        <Suspense>
          <ThumbReason onSend={(why) => send(0, why)} onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  )
}

/** Link to the thread's workflow in the Temporal UI, if the settings name one. */
function WorkflowLink({ threadId }: { threadId: string }) {
  const settings = useConsoleSettings()
  if (!settings?.temporal_ui_url) return undefined
  const workflow = encodeURIComponent(`thread/${threadId}`)
  return (
    <a
      className="button button-icon"
      title={t.workflowHelp}
      aria-label={t.workflowHelp}
      href={`${settings.temporal_ui_url}/namespaces/${settings.temporal_namespace}/workflows/${workflow}`}
      target="_blank"
      rel="noreferrer"
    >
      <Workflow size={15} />
    </a>
  )
}

/** A tool that was left out, and why: `type name: reason`. */
function leftOut(warning: string): string {
  const [, name, reason] = /^(?:[^\s:]+ )?([^\s:]+): ([^]*)$/.exec(warning) ?? []
  return name === undefined ? warning : `${toolTitle(name)}: ${sayingOf(reason ?? '')}`
}
