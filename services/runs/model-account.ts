import type { ProviderSettings } from '../../domain/provided-models.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { keyContext } from '../assistants/compat-accounts.ts'
import type { SecretBox } from '../secrets.ts'
import type { ModelAccount } from './chat-model.ts'

export interface PlatformModelSettings {
  openaiApiKey?: string | undefined
  openaiBaseUrl?: string | undefined
  /** Providers bring keys of their own; a model that none of them has then finds no key here. */
  providers: Pick<ProviderSettings, 'models'>
}

/**
 * The account of an assistant's runs; undefined if there is none. An assistant with its own account never uses
 * another: if its key is missing or cannot be unsealed, it has no model.
 */
export function createAccountOf(settings: PlatformModelSettings, secretBox: Pick<SecretBox, 'open'>) {
  const platform: ModelAccount | undefined =
    settings.openaiApiKey === undefined && settings.providers.models.length === 0
      ? undefined
      : { apiKey: settings.openaiApiKey ?? '', baseUrl: settings.openaiBaseUrl, setByUser: false }
  return ({ _id, compat_account: own }: AssistantRecord): ModelAccount | undefined => {
    if (own === undefined) return platform
    const apiKey = own.encrypted_key && openOrUndefined(own.encrypted_key, keyContext(_id, own.base_url))
    return apiKey ? { apiKey, baseUrl: own.base_url, setByUser: true } : undefined
  }

  function openOrUndefined(sealed: string, context: string): string | undefined {
    try {
      return secretBox.open(sealed, context)
    } catch {
      return undefined
    }
  }
}
