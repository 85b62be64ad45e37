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

const members = ['runs', 'tokens', 'money'] as const
type Member = (typeof members)[number]

/** What a project has spent today, and its limits of a day, with a button of their own. */
export function BudgetSettings({ projectId }: { projectId: string }) {
  const name = keys.budget(projectId)
  const path = { params: { path: { project_id: projectId } } }
  const budget = useQuery({ queryKey: name, queryFn: () => unwrap(api.GET('/projects/{project_id}/budget', path)) })
  if (budget.isError) return <Problem error={budget.error} onRetry={() => void budget.refetch()} />
  if (!budget.data) return <Skeleton lines={3} />
  return (
    <BudgetForm
      budget={budget.data}
      onSave={async (body) => {
        queryClient.setQueryData(name, await unwrap(api.PUT('/projects/{project_id}/budget', { ...path, body })))
        say(texts.saved)
      }}
    />
  )
}

function BudgetForm({ budget, onSave }: { budget: Budget; onSave: (limits: Limits) => Promise<void> }) {
  const [limits, setLimits] = useState<Limits>(budget.limits)
  const form = useSubmit(() => onSave(limits))
  return (
    <form className="form" onSubmit={form.onSubmit}>
      {members.map((member) => (
        <Spent key={member} member={member} budget={budget} />
      ))}
      <LimitFields budget={budget} limits={limits} errors={form.fields} onLimits={setLimits} />
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div>
        <Button type="submit" look="primary" busy={form.isBusy}>
          {t.save}
        </Button>
      </div>
    </form>
  )
}

interface PublicBudgetProps {
  assistantId: string
  /** What was typed and is not saved yet. */
  limits: Limits | undefined
  onLimits: (limits: Limits | undefined) => void
}

/** The limits of what public callers of an assistant may spend in a day; they are saved with the assistant. */
export function PublicBudget({ assistantId, limits, onLimits }: PublicBudgetProps) {
  const path = { params: { path: { aid: assistantId } } }
  const budget = useQuery({
    queryKey: keys.budget(assistantId),
    queryFn: () => unwrap(api.GET('/assistants/{aid}/budget', path)),
  })
  const why = useMembership().why('owner')
  if (budget.isError) return <Problem error={budget.error} onRetry={() => void budget.refetch()} />
  if (!budget.data) return <Skeleton lines={3} />
  const stored = budget.data.limits
  return (
    <>
      {members.map((member) => stored[member] !== null && <Spent key={member} member={member} budget={budget.data} />)}
      <LimitFields
        budget={budget.data}
        limits={limits ?? stored}
        isReadOnly={why !== undefined}
        onLimits={(next) => onLimits(members.every((member) => next[member] === stored[member]) ? undefined : next)}
      />
      {why !== undefined && <Notice>{why}</Notice>}
    </>
  )
}

interface LimitFieldsProps {
  budget: Budget
  limits: Limits
  errors?: Record<string, string>
  isReadOnly?: boolean
  onLimits: (limits: Limits) => void
}

function LimitFields({ budget, limits, errors = {}, isReadOnly = false, onLimits }: LimitFieldsProps) {
  return (
    <>
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
            readOnly={isReadOnly}
            error={errors[member]}
            value={limits[member] ?? ''}
            onValue={(value) => onLimits({ ...limits, [member]: value === '' ? null : Number(value) })}
          />
        ))}
      </div>
      <p className="muted small">{t.help}</p>
    </>
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
