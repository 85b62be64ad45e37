import { useState } from 'react'
import { type Assistant, type Schemas, api, type configKey, keys, queryClient, unwrap } from './api.ts'

type Config = Schemas['AssistantConfig']
type ConfigKey = (typeof configKey)[keyof typeof configKey]

export interface Draft {
  name: string
  public: boolean
  config: Config
  /** New limits of what public callers may spend in a day. */
  limits?: Schemas['BudgetRequest'] | undefined
}

/**
 * An assistant while it is being edited. `save` replaces it as a whole; unknown keys of its configuration are kept.
 */
export function useDraft(assistant: Assistant) {
  const stored: Draft = { name: assistant.name, public: assistant.public, config: assistant.config }
  const [draft, setDraft] = useState(stored)
  const [saved, setSaved] = useState(stored)
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved)
  const path = { params: { path: { aid: assistant.assistant_id } } }
  const put = (body: Draft) => unwrap(api.PUT('/assistants/{aid}', { ...path, body }))
  const keep = (answer: Assistant): Draft => {
    const now = { name: answer.name, public: answer.public, config: answer.config }
    setSaved(now)
    queryClient.setQueryData(keys.assistant(assistant.assistant_id), answer)
    return now
  }
  return {
    draft,
    isChanged,
    set: (part: Partial<Draft>) => setDraft((current) => ({ ...current, ...part })),
    /** Sets or removes a key of the configuration. */
    setConfig: (key: ConfigKey, value: unknown) => setDraft((current) => withKey(current, key, value)),
    /** Saves a key of the configuration at once; other changes stay unsaved. */
    async saveConfig(key: ConfigKey, value: unknown) {
      setDraft((current) => withKey(current, key, value))
      keep(await put(withKey(saved, key, value)))
    },
    async save() {
      const { limits, ...rest } = draft
      const now = keep(await put(rest))
      setDraft({ ...now, limits })
      if (limits !== undefined) {
        const budget = await unwrap(api.PUT('/assistants/{aid}/budget', { ...path, body: limits }))
        queryClient.setQueryData(keys.budget(assistant.assistant_id), budget)
        setDraft(now)
      }
      await queryClient.invalidateQueries({ queryKey: keys.assistants })
    },
    /** Changes that the service made by itself. */
    adopt(part: Record<string, unknown>) {
      setDraft((current) => ({ ...current, config: { ...current.config, ...part } }))
      setSaved((current) => ({ ...current, config: { ...current.config, ...part } }))
    },
  }
}

export type DraftState = ReturnType<typeof useDraft>

function withKey({ config, ...rest }: Draft, key: ConfigKey, value: unknown): Draft {
  const { [key]: _, ...others } = config
  const next: Config = value === undefined || value === '' ? others : { ...others, [key]: value }
  return { ...rest, config: next }
}
