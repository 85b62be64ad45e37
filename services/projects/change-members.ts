import { AppError } from '../../domain/errors.ts'
import type { LeavingRecord, MemberRecord, ProjectRecord } from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import { createInTurn } from '../in-turn.ts'
import { lockUser } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { sharedProjectStore } from './store.ts'

export type ChangeMembers = ReturnType<typeof createChangeMembers>

interface Changes {
  members: MemberRecord[]
  /** A user who does not use the project any more. */
  left?: LeavingRecord | undefined
  /** A group whose members do not use it by that group any more. */
  leftGroup?: string | undefined
  /** A user who begins to use it; refused while his account is being deleted. */
  joined?: string
}

interface ChangeMembersDeps {
  collections: Pick<Collections, 'projects' | 'users'>
  transaction: RunInTransaction
}

/**
 * Changes who uses a project: `changed` decides from the record as it is, in the transaction that writes the result, so
 * that no two changes can both rely on what only one of them leaves. It throws to refuse.
 */
export function createChangeMembers({ collections, transaction }: ChangeMembersDeps) {
  const projects = sharedProjectStore(collections)
  // Changes of one project would otherwise repeat each other's transactions.
  const inTurn = createInTurn()

  return async (projectId: string, changed: (project: ProjectRecord) => Changes): Promise<ProjectRecord> =>
    inTurn(projectId, () =>
      transaction(async (session) => {
        const project = await projects.findOfAny(projectId, session)
        if (project === null) throw new AppError('not_found', 'There is no such project.')
        const { members, left, leftGroup, joined } = changed(project)
        if (joined !== undefined) await lockUser(collections, joined, session)
        const leaves = {
          ...(left === undefined ? {} : { leaving: left }),
          ...(leftGroup === undefined ? {} : { left_groups: leftGroup }),
        }
        await projects.setMembers(projectId, members, leaves, session)
        return { ...project, members }
      }),
    )
}
