import { Play } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, unwrap } from '../../lib/api.ts'
import { formatSeconds } from '../../lib/format.ts'
import { type JsonObject, asList, asObject, parseObject } from '../../lib/json.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ToolResult } from '../chat/tool-call.tsx'
import { SchemaForm } from './schema-form.tsx'

const t = texts.tools
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
  const [args, setArgs] = useState(() => firstArguments(parameters))
  /** The arguments as JSON while they are written so. */
  const [json, setJson] = useState<string>()
  const [trial, setTrial] = useState<Schemas['ToolTrial']>()
  const form = useSubmit(async () => {
    setTrial(undefined)
    const given = json === undefined ? args : parseObject(json)
    await save()
    const path = { params: { path: { aid: assistantId } } }
    setTrial(await unwrap(api.POST('/assistants/{aid}/tools/try', { ...path, body: { name, args: given } })))
  })
  const switchTo = (asJson: boolean) => {
    if (asJson) return setJson(JSON.stringify(args, undefined, 2))
    try {
      setArgs(parseObject(json ?? ''))
      setJson(undefined)
    } catch {
      form.setProblem(texts.chat.notJson)
    }
  }
  return (
    <>
      <form className="form" onSubmit={form.onSubmit}>
        {json === undefined ? (
          <SchemaForm schema={parameters} value={args} onValue={setArgs} />
        ) : (
          <TextArea label={texts.chat.argumentsJson} mono rows={8} value={json} onValue={setJson} spellCheck={false} />
        )}
        <CheckField label={t.asJson} checked={json !== undefined} onValue={switchTo} />
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

/** The defaults of the schema; a required switch is off. */
function firstArguments(parameters: JsonObject): JsonObject {
  const required = asList(parameters['required'])
  const known = Object.entries(asObject(parameters['properties'])).flatMap(([name, member]) => {
    const { default: given, type } = asObject(member)
    const first = given ?? (type === 'boolean' && required.includes(name) ? false : undefined)
    return first === undefined ? [] : [[name, first] as const]
  })
  return Object.fromEntries(known)
}
