import { ownAssistantStore } from './store.ts'
import { randomBytes } from 'node:crypto'
import { publicTokenKey } from '../../domain/assistant-config.ts'
import { objectFromJsonText, toJsonText } from '../../domain/json-text.ts'
import type { Collections } from '../collections.ts'
import { type Owner } from '../owner.ts'
import { type AssistantConfigs, configUpdate } from './configs.ts'
import { type AssistantReads } from './read-assistants.ts'

interface RenewDeps {
  collections: Pick<Collections, 'assistants'>
  configs: AssistantConfigs
  readOwn: AssistantReads['readOwn']
}

/** Generates a strong public token that replaces the old one at once. The access mode does not change. */
export async function renewPublicToken(
  { collections, configs, readOwn }: RenewDeps,
  owner: Owner,
  assistantId: string,
): Promise<string> {
  for (;;) {
    const assistant = await readOwn(owner, assistantId)
    const token = `pt_${randomBytes(32).toString('base64url')}`
    const config = { ...objectFromJsonText(configs.textOf(assistant)), [publicTokenKey]: token }
    const fields = configs.fieldsOf(assistantId, toJsonText(config))
    const change = configUpdate({ ...fields, updated_at: new Date() })
    // Otherwise somebody else wrote the config in the meantime: read it again.
    if (await ownAssistantStore(collections).changeConfigOwned(owner, assistant, change)) return token
  }
}
