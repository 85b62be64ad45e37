import type { Collections } from '../collections.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { BelongingsCollections } from './belongings.ts'
import type { Owner } from '../owner.ts'
import type { AssistantConfigs } from './configs.ts'
import { moveAssistant } from './project-of-assistant.ts'
import { createAssistantReads } from './read-assistants.ts'
import { renewPublicToken } from './renew-public-token.ts'
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
