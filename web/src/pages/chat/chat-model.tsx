import { useQuery } from '@tanstack/react-query'
import { type Schemas, keys } from '../../lib/api.ts'
import { choose, useChosenFor } from '../../lib/chat-model.ts'
import { efforts } from '../../lib/efforts.ts'
import { formatCost } from '../../lib/format.ts'
import { texts } from '../../texts/index.ts'
import { ModelOptions, useModels } from '../../ui/model-picker.tsx'

const t = texts.modelPicker

/** Which model answers in a chat, and what the chat has cost so far. */
export function ChatModel({ chat }: { chat: string }) {
  const models = useModels().data?.models ?? []
  const chosen = useChosenFor('model', chat)
  const effort = useChosenFor('effort', chat)
  const cost = useCost(chat)
  return (
    <>
      {(models.length > 1 || chosen !== '') && (
        <select
          className="composer-select"
          aria-label={t.label}
          value={chosen}
          onChange={(event) => choose('model', chat, event.target.value)}
        >
          <option value="">{t.ofAssistant}</option>
          <ModelOptions models={models} isShort />
          {chosen !== '' && !models.some(({ id }) => id === chosen) && <option value={chosen}>{chosen}</option>}
        </select>
      )}
      <select
        className="composer-select"
        aria-label={t.effort}
        value={effort}
        onChange={(event) => choose('effort', chat, event.target.value)}
      >
        <option value="">{t.effortOfAssistant}</option>
        {efforts.map((one) => (
          <option key={one} value={one}>
            {t.efforts[one]}
          </option>
        ))}
      </select>
      {cost !== undefined && <span className="muted small">{t.chatCost(cost)}</span>}
    </>
  )
}

/** Of the newest hundred answers, as far as their prices are known. */
function useCost(chat: string): string | undefined {
  // The chat itself loads the list.
  const runs = useQuery<Schemas['RunList']>({ queryKey: keys.runs(chat), enabled: false }).data?.runs ?? []
  const priced = runs.filter(({ cost }) => cost !== null)
  const sum = priced.reduce((total, { cost }) => total + (cost ?? 0), 0)
  return sum > 0 ? formatCost(sum, priced[0]?.currency ?? '') : undefined
}
