import { AppError, invalidInput } from '../../domain/errors.ts'
import { type ProviderKind, usualKind } from '../../domain/model-providers.ts'
import type { CompatAccountRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import type { Outbound } from '../outbound.ts'
import type { Owner } from '../owner.ts'
import { type SecretBox, hintOf } from '../secrets.ts'
import type { Assistants } from './index.ts'
import { ownAssistantStore } from './store.ts'

interface CompatAccountChange {
  kind?: ProviderKind
  api_key?: string
  base_url?: string
}

interface CompatAccountsDeps {
  collections: Pick<Collections, 'assistants'>
  assistants: Pick<Assistants, 'readOwn'>
  outbound: Pick<Outbound, 'assertReachable'>
  secretBox: SecretBox
}

/** An assistant's own model account: its runs use this account and its key. Only the owner can see or change it. */
export function createCompatAccounts({ collections, assistants, outbound, secretBox }: CompatAccountsDeps) {
  const store = ownAssistantStore(collections)

  return {
    /**
     * Sets the account, or changes the given members. A key was given for its base URL: a new URL without a key
     * removes the old key, so that it is never sent to another address.
     */
    async put(owner: Owner, assistantId: string, change: CompatAccountChange): Promise<CompatAccountRecord> {
      for (;;) {
        const assistant = await assistants.readOwn(owner, assistantId)
        if (!assistant.public && assistant.access_mode === 'authenticated') {
          throw new AppError(
            'forbidden',
            'Only an assistant that is public or open to the public can have an account of its own.',
          )
        }
        const known = assistant.compat_account
        const account = accountAfter(assistantId, known, change)
        await outbound.assertReachable(account.base_url, ['body', 'base_url'])
        // Otherwise somebody else changed the account in the meantime: read it again.
        if (await store.setAccount(owner, assistantId, known, account)) return account
      }
    },

    async get(owner: Owner, assistantId: string): Promise<CompatAccountRecord> {
      const { compat_account: account } = await assistants.readOwn(owner, assistantId)
      if (account === undefined) throw noAccount()
      return account
    },

    async delete(owner: Owner, assistantId: string): Promise<void> {
      await assistants.readOwn(owner, assistantId)
      if (!(await store.removeAccount(owner, assistantId))) throw noAccount()
    },

    /**
     * Seals every key again that is sealed under a previous `SECRETS_KEY`, and returns how many there were. Safe to
     * repeat. Afterwards the previous key is no longer needed.
     */
    async reseal(): Promise<number> {
      let count = 0
      for await (const { _id, compat_account: account } of store.openWithKeyOfAny()) {
        const sealed = account?.encrypted_key
        if (account === undefined || sealed === undefined || secretBox.isCurrent(sealed)) continue
        const context = keyContext(_id, account.base_url)
        await store.resealKeyOfAny(_id, sealed, secretBox.seal(secretBox.open(sealed, context), context))
        count++
      }
      return count
    },
  }

  function accountAfter(
    assistantId: string,
    known: CompatAccountRecord | undefined,
    { kind: givenKind, api_key: key, base_url: givenUrl }: CompatAccountChange,
  ): CompatAccountRecord {
    const baseUrl = givenUrl?.replace(/\/+$/, '') ?? known?.base_url
    if (baseUrl === undefined) throw invalidInput(['body', 'base_url'], 'an account needs a base URL', 'missing')
    if (key === undefined && known === undefined)
      throw invalidInput(['body', 'api_key'], 'an account needs a key', 'missing')
    const kind = givenKind ?? known?.kind ?? usualKind
    const common = { ...(kind === usualKind ? {} : { kind }), base_url: baseUrl, updated_at: new Date() }
    if (key !== undefined) {
      const encrypted_key = secretBox.seal(key, keyContext(assistantId, baseUrl))
      return { ...common, key_hint: hintOf(key), encrypted_key }
    }
    const storedKey = known?.base_url === baseUrl ? known : undefined
    const sealed = storedKey?.encrypted_key
    return {
      ...common,
      key_hint: storedKey?.key_hint ?? '',
      ...(sealed === undefined ? {} : { encrypted_key: sealed }),
    }
  }
}

/** A sealed key is bound to this: it cannot be opened for another assistant or another address. */
export function keyContext(assistantId: string, baseUrl: string): string {
  return `compat-account\n${assistantId}\n${baseUrl}`
}

function noAccount(): AppError {
  return new AppError('not_found', 'This assistant has no account of its own.')
}
