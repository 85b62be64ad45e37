import { Play } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, unwrap } from '../../../lib/api.ts'
import { formatSeconds } from '../../../lib/format.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { firstArguments } from '../../../lib/schema.ts'
import { useSubmit } from '../../../lib/use-submit.ts'
import { assistantMessages } from '../../../texts/assistant.ts'
import { ArgumentsForm, useArguments } from '../../../ui/arguments-form.tsx'
import { Button } from '../../../ui/button.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { ToolResult } from '../../chat/tool-call.tsx'

const t = assistantMessages.tools
const tones = { answered: 'ok', failed: 'danger', refused: 'warn' } as const

interface ToolTrialProps {
  assistantId: string
  name: string
  /** JSON Schema of the arguments. */
  parameters: JsonObject
  /** Called before the tool: saves what was changed. */
  save: () => Promise<void>
}

/** A form for the arguments of a tool, which calls it once and shows its answer. */
export function ToolTrial({ assistantId, name, parameters, save }: ToolTrialProps) {
  const state = useArguments(firstArguments(parameters))
  const [trial, setTrial] = useState<Schemas['ToolTrial']>()
  const form = useSubmit(async () => {
    setTrial(undefined)
    const args = state.read()
    await save()
    const path = { params: { path: { aid: assistantId } } }
    setTrial(await unwrap(api.POST('/assistants/{aid}/tools/try', { ...path, body: { name, args } })))
  })
  return (
    <>
      <form className="form" onSubmit={form.onSubmit}>
        <ArgumentsForm schema={parameters} state={state} onProblem={form.setProblem} />
        <div className="row">
          <Button type="submit" busy={form.isBusy}>
            <Play size={16} aria-hidden="true" />
            {t.call(name)}
          </Button>
          <span className="muted small grow">{t.callHelp}</span>
        </div>
      </form>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      {trial && (
        <>
          <Notice tone={tones[trial.outcome]}>
            {t.outcomes[trial.outcome](formatSeconds(trial.duration_ms))}
            {trial.is_cut && ` ${t.cut}`}
          </Notice>
          <ToolResult content={trial.content} />
        </>
      )}
    </>
  )
}
