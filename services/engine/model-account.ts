import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ModelAccount } from './chat-model.ts'

export interface PlatformModelSettings {
  openaiApiKey?: string | undefined
  openaiBaseUrl?: string | undefined
}

/** Which account an assistant's runs go to; undefined when no model is configured. */
export function createAccountOf(settings: PlatformModelSettings) {
  const platform: ModelAccount | undefined =
    settings.openaiApiKey === undefined
      ? undefined
      : { apiKey: settings.openaiApiKey, baseUrl: settings.openaiBaseUrl, setByUser: false }
  return (_assistant: AssistantRecord): ModelAccount | undefined => platform
}
