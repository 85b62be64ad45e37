import { configKey } from '../../lib/api.ts'
import type { DraftState } from '../../lib/draft.ts'
import { insightMessages as t } from '../../texts/insights.ts'
import { CheckField } from '../../ui/field.tsx'

/** Whether the owner reads the chats of visitors, who are told so. */
export default function KeepsChats({ state: { draft, setConfig } }: { state: DraftState }) {
  return (
    <CheckField
      label={t.keeps}
      help={t.keepsHelp}
      checked={draft.config[configKey.keepsChats] ?? false}
      onValue={(keeps) => setConfig(configKey.keepsChats, keeps || undefined)}
    />
  )
}
