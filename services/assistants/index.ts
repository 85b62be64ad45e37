import { randomBytes } from 'node:crypto'
import type { ClientSession } from 'mongoose'
import { publicTokenKey } from '../../domain/assistant-config.ts'
import { AppError } from '../../domain/errors.ts'
import { objectFromJsonText, toJsonText } from '../../domain/json.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import type { Owner } from '../owner.ts'
import { lockProject } from '../parents.ts'
import { budgetStore } from '../stores/budgets.ts'
import { projectStore } from '../stores/projects.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type BelongingsCollections, moveBelongings, moveRuns } from './belongings.ts'
import { type AssistantConfigs, configUpdate } from './configs.ts'
import { type AssistantReads, createAssistantReads, missing } from './read-assistants.ts'
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
    toConfig: deps.configs.shownTo,
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

interface MoveDeps {
  collections: BelongingsCollections & Pick<Collections, 'users' | 'projects' | 'budgets'>
  transaction: RunInTransaction
  configs: Pick<AssistantConfigs, 'settingsOf'>
  readOwn: AssistantReads['readOwn']
}

/**
 * Moves the caller's assistant, with what belongs to it, into another of the caller's projects. Throws `conflict` if
 * something cannot follow. If only some runs followed, the same request moves the others.
 */
async function moveAssistant(
  { collections, transaction, configs, readOwn }: MoveDeps,
  userId: string,
  assistantId: string,
  projectId: string,
): Promise<AssistantRecord> {
  const assistants = ownAssistantStore(collections)
  await readOwn(userId, assistantId)
  const assistant = await transaction(async (session) => {
    await lockOwnProject(collections, { userId, projectId }, session)
    const before = await assistants.findOwned(userId, assistantId, session)
    if (before === null) throw missing()
    if (before.project_id !== projectId)
      await moveBelongings(collections, configs, { assistant: before, to: projectId, session })
    const { budgets: earlier = [] } = before
    const $set = {
      project_id: projectId,
      updated_at: new Date(),
      budgets: [
        ...earlier.filter((id) => id.startsWith('public/')),
        ...(await budgetStore(collections).idsOfProject(projectId, session)),
      ],
    }
    const moved = await assistants.replaceOwned(userId, assistantId, { $set }, session)
    if (moved === null) throw missing()
    return moved
  })
  await moveRuns(collections, assistant)
  return assistant
}

async function lockOwnProject(
  collections: Pick<Collections, 'users' | 'projects'>,
  caller: { userId: string; projectId: string },
  session: ClientSession,
): Promise<void> {
  const project = await projectStore(collections).findSharedOfAny(caller.projectId, session)
  if (project === null) throw new AppError('not_found', 'There is no such project.')
  // What belongs to a project has one holder: a member cannot put what his account holds into it.
  if (project.user_id !== caller.userId) throw new AppError('forbidden', 'This project belongs to another user.')
  await lockProject(collections, caller, session)
}
