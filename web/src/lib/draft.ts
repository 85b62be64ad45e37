import { useState } from 'react'
import { type Assistant, type Schemas, api, type configKey, keys, queryClient, unwrap } from './api.ts'

type Config = Schemas['AssistantConfig']

export interface Draft {
  name: string
  public: boolean
  config: Config
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
  return {
    draft,
    isChanged,
    set: (part: Partial<Draft>) => setDraft((current) => ({ ...current, ...part })),
    /** Sets or removes a key of the configuration. */
    setConfig: (key: (typeof configKey)[keyof typeof configKey], value: unknown) =>
      setDraft(({ config, ...rest }) => {
        const { [key]: _, ...others } = config
        const next: Config = value === undefined || value === '' ? others : { ...others, [key]: value }
        return { ...rest, config: next }
      }),
    async save(next: Draft = draft) {
      const answer = await unwrap(api.PUT('/assistants/{aid}', { ...path, body: next }))
      const now = { name: answer.name, public: answer.public, config: answer.config }
      setDraft(now)
      setSaved(now)
      queryClient.setQueryData(keys.assistant(assistant.assistant_id), answer)
      await queryClient.invalidateQueries({ queryKey: keys.assistants })
      return answer
    },
    /** Changes that the service made by itself. */
    adopt(part: Record<string, unknown>) {
      setDraft((current) => ({ ...current, config: { ...current.config, ...part } }))
      setSaved((current) => ({ ...current, config: { ...current.config, ...part } }))
    },
  }
}

export type DraftState = ReturnType<typeof useDraft>
