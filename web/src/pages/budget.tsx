import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Schemas, api, keys, queryClient, unwrap } from '../lib/api.ts'
import { formatCost, formatNumber } from '../lib/format.ts'
import { useMembership } from '../lib/membership.ts'
import { say } from '../lib/toasts.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { texts } from '../texts/index.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { Problem, ProgressBar, Skeleton } from '../ui/states.tsx'

const t = texts.budget
type Budget = Schemas['Budget']
type Limits = Schemas['BudgetRequest']

/** Whose budget it is: that of a project, or of the public callers of an assistant. */
export type BudgetOwner = { projectId: string } | { assistantId: string }

const members = ['runs', 'tokens', 'money'] as const
type Member = (typeof members)[number]

function read(owner: BudgetOwner): Promise<Budget> {
  return 'projectId' in owner
    ? unwrap(api.GET('/projects/{project_id}/budget', { params: { path: { project_id: owner.projectId } } }))
    : unwrap(api.GET('/assistants/{aid}/budget', { params: { path: { aid: owner.assistantId } } }))
}

function write(owner: BudgetOwner, body: Limits): Promise<Budget> {
  return 'projectId' in owner
    ? unwrap(api.PUT('/projects/{project_id}/budget', { params: { path: { project_id: owner.projectId } }, body }))
    : unwrap(api.PUT('/assistants/{aid}/budget', { params: { path: { aid: owner.assistantId } }, body }))
}

/** What was spent today, and the limits of a day. */
export function BudgetSettings({ owner }: { owner: BudgetOwner }) {
  const name = keys.budget('projectId' in owner ? owner.projectId : owner.assistantId)
  // A project's own budget is offered to its owners only, wherever they are.
  const ofOpenProject = useMembership().why('owner')
  const why = 'assistantId' in owner ? ofOpenProject : undefined
  const budget = useQuery({ queryKey: name, queryFn: () => read(owner) })
  if (budget.isError) return <Problem error={budget.error} onRetry={() => void budget.refetch()} />
  if (!budget.data) return <Skeleton lines={3} />
  return (
    <BudgetForm
      budget={budget.data}
      why={why}
      look={'projectId' in owner ? 'primary' : 'plain'}
      onSave={async (limits) => {
        queryClient.setQueryData(name, await write(owner, limits))
        say(texts.saved)
      }}
    />
  )
}

interface BudgetFormProps {
  budget: Budget
  /** Why it cannot be changed, in words. */
  why: string | undefined
  /** Of the button: in a dialog it is the main one. */
  look: 'primary' | 'plain'
  onSave: (limits: Limits) => Promise<void>
}

function BudgetForm({ budget, why, look, onSave }: BudgetFormProps) {
  const [typed, setTyped] = useState<Record<Member, string>>({
    runs: shown(budget.limits.runs),
    tokens: shown(budget.limits.tokens),
    money: shown(budget.limits.money),
  })
  const form = useSubmit(() =>
    onSave({ runs: limit(typed.runs), tokens: limit(typed.tokens), money: limit(typed.money) }),
  )
  return (
    <form className="form" onSubmit={form.onSubmit}>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      {members.map((member) => (
        <Spent key={member} member={member} budget={budget} />
      ))}
      <div className="form-row">
        {members.map((member) => (
          <TextField
            key={member}
            label={member === 'money' ? t.maxMoney(budget.currency.toUpperCase()) : t.max[member]}
            type="number"
            inputMode="decimal"
            min={0}
            step={member === 'money' ? 'any' : 1}
            placeholder={t.noLimit}
            readOnly={why !== undefined}
            error={form.fields[member]}
            value={typed[member]}
            onValue={(value) => setTyped({ ...typed, [member]: value })}
          />
        ))}
      </div>
      <p className="muted small">{t.help}</p>
      {why === undefined ? (
        <div>
          <Button type="submit" look={look} busy={form.isBusy}>
            {t.save}
          </Button>
        </div>
      ) : (
        <Notice>{why}</Notice>
      )}
    </form>
  )
}

function Spent({ member, budget }: { member: Member; budget: Budget }) {
  const format = (value: number) => (member === 'money' ? formatCost(value, budget.currency) : formatNumber(value))
  const [used, most] = [budget.used[member], budget.limits[member]]
  return (
    <div className="stack-tight">
      <div className="spread">
        <span>{t.today[member]}</span>
        <span>{most === null ? format(used) : t.of(format(used), format(most))}</span>
      </div>
      {most !== null && <ProgressBar value={most === 0 ? 1 : Math.min(1, used / most)} label={t.today[member]} />}
    </div>
  )
}

const shown = (value: number | null) => (value === null ? '' : String(value))
/** An empty field sets no limit. */
const limit = (text: string) => (text.trim() === '' ? null : Number(text))
