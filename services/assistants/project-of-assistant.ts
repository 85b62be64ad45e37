import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { budgetId } from '../../domain/records/budget.ts'
import type { Collections } from '../collections.ts'
import { holdProject } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type BelongingsCollections, moveBelongings, moveRuns } from './belongings.ts'
import type { AssistantConfigs } from './configs.ts'
import { type AssistantReads, missing, present } from './read-assistants.ts'

interface MoveDeps {
  collections: BelongingsCollections & Pick<Collections, 'projects' | 'budgets'>
  transaction: RunInTransaction
  configs: Pick<AssistantConfigs, 'settingsOf'>
  readOwn: AssistantReads['readOwn']
}

/**
 * Moves the caller's assistant, with what belongs to it, into another of the caller's projects. Throws `conflict` if
 * something cannot follow. If only some runs followed, the same request moves the others.
 */
export async function moveAssistant(
  { collections, transaction, configs, readOwn }: MoveDeps,
  userId: string,
  assistantId: string,
  projectId: string,
): Promise<AssistantRecord> {
  await readOwn(userId, assistantId)
  const assistant = await transaction(async (session) => {
    await holdOwnProject(collections, { userId, projectId }, session)
    const before = await collections.assistants
      .findOne({ _id: assistantId, user_id: userId, ...present }, {}, { session })
      .lean<AssistantRecord>()
    if (before === null) throw missing()
    if (before.project_id !== projectId)
      await moveBelongings(collections, configs, { assistant: before, to: projectId, session })
    const { budgets: earlier = [] } = before
    const moved = await collections.assistants
      .findOneAndUpdate(
        { _id: assistantId, user_id: userId, ...present },
        {
          $set: {
            project_id: projectId,
            updated_at: new Date(),
            budgets: [
              ...earlier.filter((id) => !id.startsWith('project/')),
              ...(await budgetsOfProject(collections, projectId, session)),
            ],
          },
        },
        { session, returnDocument: 'after' },
      )
      .lean<AssistantRecord>()
    if (moved === null) throw missing()
    return moved
  })
  await moveRuns(collections, assistant)
  return assistant
}

/**
 * The budgets for which runs of the project's assistants count. The project must be held, so that a budget that is
 * being set is seen here, or sees the assistant.
 */
export async function budgetsOfProject(
  collections: Pick<Collections, 'budgets'>,
  projectId: string,
  session: ClientSession,
): Promise<string[]> {
  const found = await collections.budgets
    .findOne({ _id: budgetId('project', projectId) }, { _id: 1 }, { session })
    .lean()
  return found === null ? [] : [found._id]
}

async function holdOwnProject(
  collections: Pick<Collections, 'projects'>,
  caller: { userId: string; projectId: string },
  session: ClientSession,
): Promise<void> {
  const project = await collections.projects
    .findOne({ _id: caller.projectId }, { user_id: 1, deleting: 1 }, { session })
    .lean()
  if (project === null) throw new AppError('not_found', 'There is no such project.')
  // What belongs to a project has one holder: a member cannot put what his account holds into it.
  if (project.user_id !== caller.userId) throw new AppError('forbidden', 'This project belongs to another user.')
  await holdProject(collections, caller, session)
}
