import { memberBudgetId } from '../../domain/records/budget.ts'
import type { LeavingRecord } from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import { type MoveThreadsDeps, createMoveThreads } from '../hand-over/threads/store.ts'
import { mcpLoginStore } from '../mcp-logins/store.ts'
import { roleIn } from '../owner.ts'
import { promptStore } from '../prompts/store.ts'
import { type CancelRunDeps, cancelRun } from '../runs/index.ts'
import { budgetStore } from '../stores/budgets.ts'
import { folderStore } from '../stores/folders.ts'
import { projectStore } from '../stores/projects.ts'
import { runStore } from '../stores/runs.ts'
import { scheduleRunStore, scheduleStore } from '../stores/schedules.ts'
import { threadStore } from '../stores/threads.ts'
import { userStore } from '../stores/users.ts'
import { vectorStoreStore } from '../stores/vector-stores.ts'
import { sharedProjectStore } from './store.ts'

interface DepartDeps extends Omit<CancelRunDeps, 'collections'>, Pick<MoveThreadsDeps, 'transaction'> {
  collections: CancelRunDeps['collections'] &
    MoveThreadsDeps['collections'] &
    Pick<Collections, 'users' | 'schedules' | 'scheduleRuns' | 'budgets' | 'prompts' | 'folders' | 'assistants'>
  /** Tells Temporal of a schedule that was changed. */
  sync: (scheduleId: string) => Promise<unknown>
}

export type Depart = (projectId: string, left: LeavingRecord) => Promise<void>

const atOnce = 100

const whyPausedByLeaving = 'Its maker does not use the project any more: it waits for somebody to take it over.'

/**
 * What follows when somebody does not use a project any more: his runs in it end, and what they have answered stays.
 * His schedules in it stay the project's, paused until somebody takes them over, and so do the threads that the project
 * sees. His private threads go with him, or are handed over; prompts that he shares with it are only his own again.
 * Nothing follows for one who still uses it, by himself or by a group. Safe to repeat.
 */
export function createDepart(deps: DepartDeps): Depart {
  const { collections } = deps
  const [users, projects, shared] = [userStore(collections), projectStore(collections), sharedProjectStore(collections)]
  const schedules = scheduleStore(collections)
  const { giveAway, takeAlong } = createMoveThreads(deps)

  return async (projectId, left) => {
    if (!(await uses(projectId, left.user_id))) {
      await end(projectId, left)
      await noteFormer(projectId, left.user_id)
    }
    await shared.forgetLeaving(projectId, left)
  }

  /** What he has spent stays in the sums of the project; nothing of an account that is deleted. */
  async function noteFormer(projectId: string, userId: string): Promise<void> {
    await deps.transaction(async (session) => {
      // A deletion of the account comes before this, and its marker is seen, or after, and finds the id.
      if (await users.lock(userId, session)) await shared.noteFormer(projectId, userId, session)
    })
  }

  async function uses(projectId: string, userId: string): Promise<boolean> {
    const [project, user] = await Promise.all([projects.findSharedOfAny(projectId), users.findGrouped(userId)])
    return project !== null && user !== null && roleIn(project, user) !== undefined
  }

  async function end(
    projectId: string,
    { user_id: userId, private_threads: choice, to }: LeavingRecord,
  ): Promise<void> {
    const his = { user_id: userId, project_id: projectId }
    const project = await projects.findSharedOfAny(projectId)
    if (project === null) return
    // Who should get them may have left, too, or be deleted.
    const receiver = (await uses(projectId, to)) ? to : project.user_id
    await leaveSchedules(his, project.user_id)
    // What others would begin their messages with is no more for him to change.
    await promptStore(collections).unshareAll(userId, projectId)
    await leaveFolders(his)
    // Else the project would go on acting in his name there.
    await mcpLoginStore(collections).endOf(projectId, userId)
    for (const run of await runStore(collections).listOpenKeys(his)) await cancelRun(deps, run)
    // The oldest project of his own.
    const home = await projects.oldestOf(userId)
    for await (const thread of threadStore(collections).openOwned(his, atOnce))
      if (thread.visibility === 'project' || choice === 'hand_over') await giveAway(thread, receiver)
      else if (home !== undefined) await takeAlong(thread, home)
    await budgetStore(collections).remove(memberBudgetId(projectId, userId))
  }

  /** Their files stay the project's, as long as they are its files; what searched them in his chats goes. */
  async function leaveFolders({ user_id: userId, project_id: projectId }: { user_id: string; project_id: string }) {
    const stores = await folderStore(collections).removeAllIn({ userId, projectId })
    const now = new Date()
    for (const id of stores)
      await vectorStoreStore(collections).changeOwned(projectId, id, { $set: { 'store.expires_at': now } })
  }

  /** They ask in no conversation of his any more. */
  async function leaveSchedules(his: { user_id: string; project_id: string }, holderId: string): Promise<void> {
    for (const _id of await schedules.idsOf(his)) {
      // Before the schedule: what is repeated finds the schedule by its maker.
      await scheduleRunStore(collections).giveTo(holderId, _id, his.user_id)
      await schedules.leave(his, _id, holderId, whyPausedByLeaving)
      // If this fails, the sweep does it; the record is paused already.
      await deps.sync(_id).catch(deps.onError)
    }
  }
}

/** Does for those who have left what the request that removed them could not do. */
export function createDepartureSweep(collections: Pick<Collections, 'projects'>, depart: Depart) {
  return async (): Promise<void> => {
    const found = await sharedProjectStore(collections).listLeftOfAny(atOnce)
    for (const { _id: projectId, leaving = [] } of found) for (const left of leaving) await depart(projectId, left)
  }
}
