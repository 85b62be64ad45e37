import { useQueries, useQuery } from '@tanstack/react-query'
import { SlidersHorizontal } from 'lucide-react'
import { Suspense, useState } from 'react'
import { type Message, type Schemas, keys } from '../../lib/api.ts'
import { choose, useChosenFor } from '../../lib/chat-model.ts'
import { efforts } from '../../lib/efforts.ts'
import { formatCost } from '../../lib/format.ts'
import { sidesIn } from '../../lib/sides.ts'
import { useTakenRuns } from '../../lib/taken-runs.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { ModelOptions, useModels } from '../../ui/model-picker.tsx'

const ChatSettings = lazyPart(() => import('./chat-settings.tsx'))
const t = texts.modelPicker
const noMessages: Message[] = []

/** Which model answers in a chat, and what the chat has cost so far. */
export function ChatModel({ chat }: { chat: string }) {
  const models = useModels().data?.models ?? []
  const chosen = useChosenFor('model', chat)
  const effort = useChosenFor('effort', chat)
  const cost = useCost(chat)
  const isSet = [
    chosen,
    effort,
    useChosenFor('instructions', chat),
    useChosenFor('temperature', chat),
    useChosenFor('beside', chat),
  ].some(Boolean)
  const [hasSettingsOpen, setSettingsOpen] = useState(false)
  return (
    <>
      {(models.length > 1 || chosen !== '') && (
        <select
          className="composer-select of-model"
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
        className="composer-select of-model"
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
      <IconButton
        label={texts.chat.settings.title}
        className={isSet ? 'is-set' : ''}
        icon={<SlidersHorizontal size={16} />}
        onClick={() => setSettingsOpen(true)}
      />
      {hasSettingsOpen && (
        <Suspense>
          <ChatSettings chat={chat} onClose={() => setSettingsOpen(false)} />
        </Suspense>
      )}
      {cost !== undefined && (
        <span className="muted small chat-cost" title={t.chatCost(cost)}>
          <span>{t.chatCost(cost)}</span>
          <span aria-hidden="true">{cost}</span>
        </span>
      )}
    </>
  )
}

/**
 * Of the newest hundred answers, those beside them and those that were taken from there, as far as their prices are
 * known.
 */
function useCost(chat: string): string | undefined {
  const sides = sidesIn(useChosenFor('sides', chat))
  // The chat itself loads all of it.
  const state = useQuery<Schemas['ThreadState']>({ queryKey: keys.state(chat), enabled: false })
  const taken = useTakenRuns(state.data?.values.messages ?? noMessages)
  const own = useQueries({
    queries: [chat, ...sides.map(({ threadId }) => threadId)].map((threadId) => ({
      queryKey: keys.runs(threadId),
      enabled: false,
    })),
    combine: (lists) => lists.flatMap(({ data }) => (data as Schemas['RunList'] | undefined)?.runs ?? []),
  })
  const priced = [...own, ...taken].filter(({ cost }) => cost !== null)
  const sum = priced.reduce((total, { cost }) => total + (cost ?? 0), 0)
  return sum > 0 ? formatCost(sum, priced[0]?.currency ?? '') : undefined
}
