import { randomBytes } from 'node:crypto'
import { publicTokenKey } from '../../domain/assistant-config.ts'
import { objectFromJsonText, toJsonText } from '../../domain/json.ts'
import type { Collections } from '../collections.ts'
import type { Owner } from '../owner.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { BelongingsCollections } from './belongings.ts'
import { type AssistantConfigs, configUpdate } from './configs.ts'
import { moveAssistant } from './project-of-assistant.ts'
import { type AssistantReads, createAssistantReads } from './read-assistants.ts'
import { ownAssistantStore } from './store.ts'
import { createAssistantWrites } from './write-assistants.ts'

export type Assistants = ReturnType<typeof createAssistants>

interface AssistantsDeps {
  collections: BelongingsCollections & Pick<Collections, 'users' | 'projects' | 'budgets'>
  transaction: RunInTransaction
  configs: AssistantConfigs
}

export function createAssistants(deps: AssistantsDeps) {
  const reads = createAssistantReads(deps)
  const { readOwn } = reads
  return {
    ...reads,
    ...createAssistantWrites({ ...deps, readIn: reads.readIn }),
    shownConfig: deps.configs.shownTo,
    listedConfig: deps.configs.listed,
    renewPublicToken: (owner: Owner, assistantId: string) => renewPublicToken({ ...deps, readOwn }, owner, assistantId),
    move: (userId: string, assistantId: string, projectId: string) =>
      moveAssistant({ ...deps, readOwn }, userId, assistantId, projectId),
  }
}

interface RenewDeps {
  collections: Pick<Collections, 'assistants'>
  configs: AssistantConfigs
  readOwn: AssistantReads['readOwn']
}

/** Generates a strong public token that replaces the old one at once. The access mode does not change. */
async function renewPublicToken(
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
