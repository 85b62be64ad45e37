import type { LeavingRecord } from '../../domain/records/project.ts'
import { roleIn } from '../owner.ts'
import type { GroupStore } from './store.ts'

const atOnce = 100

/** Ends what somebody who does not use a project any more has in it. */
type Depart = (projectId: string, left: LeavingRecord) => Promise<void>

export type LeaveGroups = ReturnType<typeof createLeaveGroups>

/**
 * What follows when somebody is not in a group any more, or a group loses its role in a project: who does not use a project
 * any more leaves it. What is to be done is noted beside the change itself; `sweep` does what a request could not.
 */
export function createLeaveGroups(store: GroupStore, depart: Depart) {
  /** For a user who has left groups. */
  async function userLeft(userId: string): Promise<void> {
    const user = await store.leftByUser(userId)
    const left = user?.left_groups ?? []
    if (user === null || left.length === 0) return
    for (const project of await store.projectsOf(left)) {
      if (roleIn(project, user) !== undefined) continue
      const leaving = leavingOf(userId, project.user_id)
      await store.noteLeaving(project._id, [leaving])
      await depart(project._id, leaving)
    }
    await store.forgetLeft(userId, left)
  }

  /** For a group that has lost its role in a project. Who still uses the project stays: `depart` looks. */
  async function groupLost(projectId: string, groupId: string): Promise<void> {
    const holderId = await store.holderOf(projectId)
    if (holderId === undefined) return
    let after = ''
    for (;;) {
      const ids = await store.memberIds(groupId, after, atOnce)
      const last = ids.at(-1)
      if (last === undefined) break
      const leaving = ids.map((userId) => leavingOf(userId, holderId))
      await store.noteLeaving(projectId, leaving)
      for (const left of leaving) await depart(projectId, left)
      after = last
    }
    await store.forgetLostGroup(projectId, groupId)
  }

  /** Ends a group whose record says that it goes: first what its members may do, then the record. */
  async function groupGone(groupId: string): Promise<void> {
    for (;;) {
      const ids = await store.memberIds(groupId, '', atOnce)
      if (ids.length === 0) break
      await store.leave(ids, groupId)
      for (const userId of ids) await userLeft(userId)
    }
    await store.takeRoles(groupId)
    await store.remove(groupId)
  }

  return {
    userLeft,
    groupLost,
    groupGone,

    async sweep(): Promise<void> {
      for (const { _id } of await store.leftBy(atOnce)) await userLeft(_id)
      for (const { _id, left_groups: lost = [] } of await store.projectsThatLostGroups(atOnce))
        for (const groupId of lost) await groupLost(_id, groupId)
      for (const { _id } of await store.deletingOnes(atOnce)) await groupGone(_id)
    },
  }
}

/** His private threads go with him, and what the project sees becomes the holder's. */
function leavingOf(userId: string, holderId: string): LeavingRecord {
  return { user_id: userId, private_threads: 'keep', to: holderId }
}
