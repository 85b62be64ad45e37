import { useQuery } from '@tanstack/react-query'
import { Check, CheckCheck, Pencil, X } from 'lucide-react'
import { Suspense, useState } from 'react'
import { type Run, type Schemas, api, keys, queryClient, unwrap } from '../../lib/api.ts'
import { digitsOf, shownJson } from '../../lib/exact-numbers.ts'
import { type Held, heldOf, keepHeld } from '../../lib/held-decisions.ts'
import { follow } from '../../lib/run-followers.ts'
import { labelOf } from '../../lib/schema.ts'
import { toolTitle } from '../../lib/tool-title.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Notice } from '../../ui/notice.tsx'

const ChangePanel = lazyPart(async () => ({ default: (await import('./change-panel.tsx')).ChangePanel }))
const t = texts.chat

type Call = Schemas['ToolCall']

/**
 * The calls for which a run waits, each to be approved, changed or rejected. What was decided is held back, and can be
 * undone, until all are decided, also after another chat was shown.
 */
export function Approval({ run, calls }: { run: Run; calls: Call[] }) {
  const [held, setShown] = useState(() => heldOf(run.run_id))
  const setHeld = (decisions: ReadonlyMap<string, Held>) => {
    keepHeld(run.run_id, decisions)
    setShown(decisions)
  }
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set())
  /** While decisions go out: the call that was decided last, whose card says what fails; `all` for the button of all. */
  const [sending, setSending] = useState<string>()
  const elsewhere = useDecidedElsewhere(run, calls.length)
  const isSent = ({ id }: Call) => sent.has(id) || elsewhere.includes(id)
  const open = calls.filter((call) => !isSent(call) && !held.has(call.id))

  /** Sends all decisions if none is missing. `last` is the call that was decided now, or `all`. */
  const decide = async (last: string, decisions: ReadonlyMap<string, Held>) => {
    setHeld(decisions)
    if (sending !== undefined || calls.some((call) => !isSent(call) && !decisions.has(call.id))) return
    const { thread_id: threadId, run_id: runId } = run
    setSending(last)
    const changed = await sendAll(decisions).finally(() => setSending(undefined))
    if (changed === undefined) return
    keepHeld(runId, new Map())
    if (changed.status !== 'interrupted') follow(runId, threadId, { again: true })
    queryClient.setQueryData<Schemas['RunList']>(
      keys.runs(threadId),
      (list) => list && { ...list, runs: list.runs.map((entry) => (entry.run_id === runId ? changed : entry)) },
    )
    await queryClient.invalidateQueries({ queryKey: keys.state(threadId) })
  }
  /** One after the other; the run as it is after the last. */
  const sendAll = async (decisions: ReadonlyMap<string, Held>): Promise<Run | undefined> => {
    let after: Run | undefined
    for (const call of calls) {
      const decision = decisions.get(call.id)
      if (decision === undefined || isSent(call)) continue
      after = await unwrap(
        api.POST('/runs/{run_id}/resume', {
          params: { path: { run_id: run.run_id } },
          body: { ...decision, tool_call_id: call.id },
        }),
      )
      setSent((known) => new Set([...known, call.id]))
    }
    return after
  }
  const undo = (call: Call) => setHeld(new Map([...held].filter(([id]) => id !== call.id)))
  const all = useSubmit(() =>
    decide('all', new Map([...held, ...open.map(({ id }): [string, Held] => [id, { action: 'approve' }])])),
  )
  return (
    <section className="approval" aria-label={t.approvalTitle}>
      <div className="row">
        <div className="grow">
          <h2>{t.approvalTitle}</h2>
          <p className="small">{t.approvalText(open.length)}</p>
        </div>
        {open.length > 1 && (
          <Button size="small" busy={all.isBusy} onClick={() => void all.submit()}>
            <CheckCheck size={15} aria-hidden="true" />
            {t.approveAll}
          </Button>
        )}
      </div>
      {all.problem && <Notice tone="danger">{all.problem}</Notice>}
      {calls.map((call) => {
        const decision = held.get(call.id)
        if (
          isSent(call) ||
          (decision !== undefined && (open.length > 0 || (sending !== undefined && sending !== call.id)))
        )
          return (
            <DecidedCall
              key={call.id}
              call={call}
              action={decision?.action}
              others={open.length}
              onUndo={isSent(call) || sending !== undefined ? undefined : () => undo(call)}
            />
          )
        return (
          <WaitingCall
            key={call.id}
            run={run}
            call={call}
            decide={(made) => decide(call.id, new Map([...held, [call.id, made]]))}
          />
        )
      })}
    </section>
  )
}

/** The calls that were decided in another place, and wait for the others. */
function useDecidedElsewhere({ run_id: runId, status }: Run, calls: number): string[] {
  const { data } = useQuery({
    queryKey: ['waiting-calls', runId, calls],
    enabled: calls > 1 && status === 'interrupted',
    queryFn: () => unwrap(api.GET('/runs/{run_id}', { params: { path: { run_id: runId } } })),
  })
  return (data?.waiting_calls ?? [])
    .filter(({ waits_for: reason }) => reason === 'others')
    .map(({ tool_call_id: id }) => id)
}

interface DecidedProps {
  call: Call
  action: Held['action']
  /** The calls that are not decided yet. */
  others: number
  onUndo: (() => void) | undefined
}

/** A decided call in one line. */
function DecidedCall({ call, action = 'approve', others, onUndo }: DecidedProps) {
  const Icon = action === 'reject' ? X : Check
  return (
    <div className="decided-call">
      <Icon size={15} aria-hidden="true" />
      <span className="grow">
        <strong>{t.decided[action](toolTitle(call.name))}</strong> {others > 0 && t.waitsForDecisions(others)}
      </span>
      {onUndo && (
        <Button size="small" onClick={onUndo}>
          {t.undoDecision}
        </Button>
      )}
    </div>
  )
}

interface WaitingProps {
  run: Run
  call: Call
  decide: (decision: Held) => Promise<void>
}

function WaitingCall({ run, call, decide }: WaitingProps) {
  const [open, setOpen] = useState<'change' | 'reject'>()
  const approve = useSubmit(() => decide({ action: 'approve' }))
  return (
    <div className="stack-small">
      <strong>{toolTitle(call.name)}</strong>
      <Arguments args={call.args} />
      {approve.problem && <Notice tone="danger">{approve.problem}</Notice>}
      <div className="row">
        <Button look="primary" size="small" busy={approve.isBusy} onClick={() => void approve.submit()}>
          <Check size={15} aria-hidden="true" />
          {t.approve}
        </Button>
        <Button size="small" onClick={() => setOpen('change')}>
          <Pencil size={14} aria-hidden="true" />
          {t.change}
        </Button>
        <Button size="small" look="danger" onClick={() => setOpen('reject')}>
          <X size={15} aria-hidden="true" />
          {t.reject}
        </Button>
      </div>
      {open === 'change' && (
        <Suspense>
          <ChangePanel
            assistantId={run.assistant_id}
            call={call}
            onRun={(args) => decide({ action: 'edit', args })}
            onClose={() => setOpen(undefined)}
          />
        </Suspense>
      )}
      {open === 'reject' && <RejectDialog decide={decide} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

/** What a tool is given, in words: each member with its name, texts as they are. */
function Arguments({ args }: { args: Call['args'] }) {
  const members = Object.entries(args)
  if (members.length === 0) return <p className="muted small">{t.noArguments}</p>
  return (
    <dl className="call-arguments" aria-label={t.arguments}>
      {members.map(([name, value]) => (
        <div key={name}>
          <dt>{labelOf(name, {})}</dt>
          <dd dir="auto">{typeof value === 'string' && digitsOf(value) === '' ? value : shownJson(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

interface RejectProps {
  decide: (decision: Held) => Promise<void>
  onClose: () => void
}

function RejectDialog({ decide, onClose }: RejectProps) {
  const [message, setMessage] = useState('')
  const form = useSubmit(async () => {
    await decide({ action: 'reject', ...(message.trim() && { message: message.trim() }) })
    onClose()
  })
  return (
    <FormDialog title={t.rejectTitle} action={t.reject} form={form} danger onClose={onClose}>
      <TextArea label={t.rejectWhy} help={t.rejectHelp} rows={4} value={message} onValue={setMessage} autoFocus />
    </FormDialog>
  )
}
