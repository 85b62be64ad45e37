import { Check, Pencil, X } from 'lucide-react'
import { Suspense, lazy, useState } from 'react'
import { type Run, type Schemas, api, keys, queryClient, unwrap } from '../../lib/api.ts'
import { shownJson } from '../../lib/exact-numbers.ts'
import { follow } from '../../lib/run-followers.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'

const ChangePanel = lazy(async () => ({ default: (await import('./change-panel.tsx')).ChangePanel }))
const t = texts.chat

type Call = Schemas['ToolCall']
type Decision = Schemas['ResumeRunPayload']

/** The calls for which a run waits, each to be approved, changed or rejected. */
export function Approval({ run, calls }: { run: Run; calls: Call[] }) {
  return (
    <section className="approval" aria-label={t.approvalTitle}>
      <div>
        <h2>{t.approvalTitle}</h2>
        <p className="small">{t.approvalText(calls.length)}</p>
      </div>
      {calls.map((call) => (
        <WaitingCall key={call.id} run={run} call={call} />
      ))}
    </section>
  )
}

function WaitingCall({ run, call }: { run: Run; call: Call }) {
  const [open, setOpen] = useState<'change' | 'reject'>()
  const decide = async (decision: Omit<Decision, 'tool_call_id'>) => {
    const { thread_id: threadId, run_id: runId } = run
    const after = await unwrap(
      api.POST('/runs/{run_id}/resume', {
        params: { path: { run_id: runId } },
        body: { ...decision, tool_call_id: call.id },
      }),
    )
    if (after.status !== 'interrupted') follow(runId, threadId, { again: true })
    queryClient.setQueryData<Schemas['RunList']>(
      keys.runs(threadId),
      (list) => list && { ...list, runs: list.runs.map((entry) => (entry.run_id === runId ? after : entry)) },
    )
    await queryClient.invalidateQueries({ queryKey: keys.state(threadId) })
  }
  const approve = useSubmit(() => decide({ action: 'approve' }))
  return (
    <div className="stack-small">
      <strong>{call.name}</strong>
      <pre className="code-block" role="region" tabIndex={0} aria-label={t.arguments}>
        {shownJson(call.args)}
      </pre>
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

interface DecisionProps {
  decide: (decision: Omit<Decision, 'tool_call_id'>) => Promise<void>
  onClose: () => void
}

function RejectDialog({ decide, onClose }: DecisionProps) {
  const [message, setMessage] = useState('')
  const form = useSubmit(async () => {
    await decide({ action: 'reject', ...(message.trim() && { message: message.trim() }) })
    onClose()
  })
  return (
    <Dialog title={t.rejectTitle} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <TextArea label={t.rejectWhy} help={t.rejectHelp} rows={4} value={message} onValue={setMessage} autoFocus />
        <div className="row row-end">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" look="danger" busy={form.isBusy}>
            {t.reject}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
