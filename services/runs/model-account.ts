import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { keyContext } from '../assistants/compat-accounts.ts'
import type { ModelsNow } from '../models/live-models.ts'
import type { SecretBox } from '../secrets.ts'
import type { ModelAccount } from './chat-model.ts'

/**
 * The account of an assistant's runs; undefined if there is none. An assistant with its own account never uses
 * another: if its key is missing or cannot be unsealed, it has no model.
 */
export function createAccountOf(models: ModelsNow, secretBox: Pick<SecretBox, 'open'>) {
  return ({ _id, compat_account: own }: AssistantRecord): ModelAccount | undefined => {
    if (own === undefined) return platformAccount(models)
    const apiKey = own.encrypted_key && openOrUndefined(own.encrypted_key, keyContext(_id, own.base_url))
    return apiKey ? { kind: own.kind, apiKey, baseUrl: own.base_url, setByUser: true } : undefined
  }

  function openOrUndefined(sealed: string, context: string): string | undefined {
    try {
      return secretBox.open(sealed, context)
    } catch {
      return undefined
    }
  }
}

/** Providers bring keys of their own; a model that none of them has then finds no key here. */
export function platformAccount(models: ModelsNow): ModelAccount | undefined {
  const { account, providers } = models.current()
  if (account === undefined && providers.models.length === 0) return undefined
  return { apiKey: account?.apiKey ?? '', baseUrl: account?.baseUrl, setByUser: false }
}
