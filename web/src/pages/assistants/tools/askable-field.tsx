import { useAssistants } from '../../../lib/api.ts'
import { type JsonObject, asList } from '../../../lib/json.ts'
import { assistantMessages } from '../../../texts/assistant.ts'
import { CheckField } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Problem, Skeleton } from '../../../ui/states.tsx'

const t = assistantMessages.tools.asking

interface AskableFieldProps {
  /** The assistant that asks. */
  assistantId: string
  value: JsonObject
  onValue: (value: JsonObject) => void
}

/** The settings of the tool `assistant`: which assistants of the project may be asked. */
export function AskableField({ assistantId, value, onValue }: AskableFieldProps) {
  const assistants = useAssistants()
  if (assistants.isPending) return <Skeleton lines={3} />
  if (assistants.isError) return <Problem error={assistants.error} onRetry={() => void assistants.refetch()} />
  const chosen = asList(value['assistant_ids']).map(String)
  const others = assistants.data.filter(({ assistant_id: id }) => id !== assistantId)
  const gone = chosen.filter((id) => !others.some(({ assistant_id: other }) => other === id))
  const choose = (ids: string[]) => {
    const { assistant_ids: _, ...rest } = value
    onValue(ids.length === 0 ? rest : { ...rest, assistant_ids: ids })
  }
  return (
    <fieldset className="stack-small">
      <legend className="field-label">{t.label}</legend>
      {others.length === 0 && <Notice>{t.none}</Notice>}
      {others.map(({ assistant_id: id, name, config }) => (
        <CheckField
          key={id}
          label={name}
          help={String(config['type==agent/description'] ?? '').slice(0, 120)}
          checked={chosen.includes(id)}
          onValue={(isChosen) => choose(isChosen ? [...chosen, id] : chosen.filter((other) => other !== id))}
        />
      ))}
      {gone.map((id) => (
        <CheckField key={id} label={t.gone} checked onValue={() => choose(chosen.filter((other) => other !== id))} />
      ))}
      <p className="field-help">{t.help}</p>
    </fieldset>
  )
}
