import { CircleCheck, CircleX } from 'lucide-react'
import { useState } from 'react'
import type { AdminApi } from '../../lib/admin-api.ts'
import { type Schemas, unwrap } from '../../lib/api.ts'
import { formatSeconds, formatTokens } from '../../lib/format.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { operationMessages } from '../../texts/operation.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import type { ModelServer } from './use-models.ts'

const t = operationMessages.models
type Trial = Schemas['ModelTrial']

interface TrialDialogProps {
  api: AdminApi
  server: ModelServer
  /** The name by which assistants choose it; empty if the server lists none. */
  model: string
  onClose: () => void
}

/** Asks a model a few short questions and shows what works, and how fast. */
export function TrialDialog({ api, server, model, onClose }: TrialDialogProps) {
  const own = server.models.find(({ id }) => id === model)?.provider_model ?? model
  const [asked, setAsked] = useState(own)
  const [result, setResult] = useState<Trial>()
  const form = useSubmit(async () => {
    setResult(undefined)
    const path = { server_id: server.server_id }
    setResult(
      await unwrap(
        api.POST('/admin/models/servers/{server_id}/try', { params: { path }, body: { model: asked.trim() } }),
      ),
    )
  })
  return (
    <Dialog title={t.tryTitle(server.name)} onClose={onClose}>
      <p className="muted small">{t.tryText}</p>
      <form className="search-form" onSubmit={form.onSubmit}>
        <TextField label={t.model} required maxLength={200} value={asked} onValue={setAsked} />
        <Button type="submit" look="primary" busy={form.isBusy}>
          {t.try}
        </Button>
      </form>
      <div aria-live="polite" className="stack-small">
        {form.isBusy && <p className="muted small">{t.trying}</p>}
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        {result && <Result trial={result} />}
      </div>
    </Dialog>
  )
}

function Result({ trial }: { trial: Trial }) {
  const { streaming, tools, json, embeddings } = trial
  const rows = [
    [t.checks.streaming, streaming, speedOf(streaming)],
    [t.checks.tools, tools, formatSeconds(tools.ms)],
    [t.checks.json, json, formatSeconds(json.ms)],
    [t.checks.embeddings, embeddings, embeddings.dimensions === null ? '' : t.dimensions(embeddings.dimensions)],
  ] as const
  return (
    <ul className="stack-small">
      {rows.map(([label, { works, problem }, note]) => (
        <li key={label} className="trial">
          {works ? (
            <CircleCheck className="trial-ok" size={18} aria-label={t.works} />
          ) : (
            <CircleX className="trial-no" size={18} aria-label={t.fails} />
          )}
          <div>
            <strong>{label}</strong>
            {problem && <div className="muted small break">{problem}</div>}
          </div>
          <span className="muted small">{works ? note : ''}</span>
        </li>
      ))}
      <li className="trial">
        <CircleCheck className="trial-ok" size={18} aria-hidden="true" />
        <strong>{t.checks.window}</strong>
        <span className="muted small">
          {t.window(formatTokens(trial.context_tokens))} {t.windowSources[trial.context_source]}
        </span>
      </li>
    </ul>
  )
}

function speedOf({ first_token_ms: first, tokens_per_second: speed }: Trial['streaming']): string {
  return [first === null ? '' : t.firstToken(formatSeconds(first)), speed === null ? '' : t.speed(speed)]
    .filter(Boolean)
    .join(', ')
}
