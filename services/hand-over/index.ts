import type { ClientSession } from 'mongoose'
import { type ProjectRole, isEnough, projectRoles } from '../../domain/acting.ts'
import type { SharedProjects } from '../../domain/contracts/deletion.ts'
import { cutText } from '../../domain/cut-text.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { MemberRecord, ProjectRecord } from '../../domain/records/project.ts'
import type { ProjectOutcome } from '../../domain/records/receipt.ts'
import type { Collections } from '../collections.ts'
import { createInTurn } from '../in-turn.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import type { ReleaseFacts } from '../memory/release-facts.ts'
import { requireRole } from '../owner.ts'
import { lockUser } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type ProjectMoves, type ProjectMovesDeps, createProjectMoves } from './projects/store.ts'

export interface HandOverDeps extends ProjectMovesDeps {
  collections: ProjectMovesDeps['collections'] & Pick<Collections, 'users'>
  transaction: RunInTransaction
  releaseFacts: ReleaseFacts
  storageQuota: Pick<StorageQuota, 'requireRoom'>
}

/**
 * A request that was admitted before may still make something in the name of the former holder: what names him is moved
 * again until this time.
 */
const finishedAfterMs = 2 * 60_000
const nameLength = 100
const namesTried = 20

/** Of a project, and what he may do in it until then. */
interface Heir {
  userId: string
  role: ProjectRole
}

export type HandOver = ReturnType<typeof createHandOver>

/**
 * Gives projects to another of their members, whose account holds them from then on: with assistants, files, sources,
 * vector stores, budgets and the conversations of public callers. What belongs to persons stays with them.
 */
export function createHandOver(deps: HandOverDeps) {
  const moves = createProjectMoves(deps)
  const inTurn = createInTurn()

  /** Decides who holds the project, and moves what belongs to it. `isLeaving`: he does not stay a member. */
  async function give(projectId: string, choose: (project: ProjectRecord) => string, isLeaving: boolean) {
    const from = await inTurn(projectId, () =>
      deps.transaction(async (session) => {
        const project = await moves.read(projectId, session)
        if (project === null) throw noProject()
        const to = choose(project)
        const { user_id: before, members = [] } = project
        if (to === before) return before
        await lockUser(deps.collections, to, session)
        const others = members.filter(({ user_id: id }) => id !== to)
        const changed = {
          user_id: to,
          name: await freeName(moves, to, project.name, session),
          members: isLeaving ? others : [...others, asOwner(before)],
          moving: { from: before, at: new Date() },
        }
        await moves.setHolder(project, changed, session)
        return before
      }),
    )
    const project = await moves.read(projectId)
    if (project !== null && project.moving !== undefined) await move(project, isLeaving)
    return { from, project }
  }

  async function move({ _id: projectId, user_id: to, moving }: ProjectRecord, isLeaving: boolean): Promise<void> {
    if (moving === undefined) return
    const { from } = moving
    const assistantIds = await moves.assistantsOf(projectId)
    await deps.releaseFacts({ userId: from, projectId, assistantIds }, isLeaving ? 'erase' : 'keep')
    await moves.moveRecords({ projectId, from, to }, assistantIds)
    if (isLeaving) await moves.finished(projectId, from)
  }

  /** Who could hold the project instead: whoever may do most in it, himself or by a group. */
  async function heirOf({ user_id: holder, members = [] }: ProjectRecord): Promise<Heir | undefined> {
    const usable = await moves.usable(members.flatMap(({ user_id: id }) => id ?? []))
    const sorted = members.toSorted(byRightThenAge)
    const himself = sorted.find(({ user_id: id }) => id !== undefined && usable.has(id))
    for (const { group_id: groupId, role } of sorted) {
      if (groupId === undefined) continue
      if (himself !== undefined && isEnough(himself.role, role)) break
      const userId = await moves.usableInGroup(groupId, holder)
      if (userId !== undefined) return { userId, role }
    }
    return himself?.user_id === undefined ? undefined : { userId: himself.user_id, role: himself.role }
  }

  return {
    /**
     * Makes an owner the holder of a project that the caller holds; the caller stays an owner. Throws `conflict` for a
     * member who is no owner, and `payload_too_large` if his account has no room for its files.
     */
    async toMember(userId: string, projectId: string, memberId: string): Promise<ProjectRecord> {
      const known = await moves.read(projectId)
      if (known === null) throw noProject()
      requireRole(known, { _id: userId }, 'holder')
      const receiver = ownerIn(known, memberId)
      if (!(await moves.usable([receiver])).has(receiver))
        throw new AppError('conflict', 'The account of this owner is closed at present: it cannot hold a project.')
      if (receiver !== userId)
        await deps.storageQuota.requireRoom(
          receiver,
          await moves.bytesOf(projectId, await moves.assistantsOf(projectId)),
        )
      const choose = (project: ProjectRecord) => {
        requireRole(project, { _id: userId }, 'holder')
        return ownerIn(project, memberId)
      }
      const { project } = await give(projectId, choose, false)
      if (project === null) throw noProject()
      return project
    },

    /** The projects of an account that others use, and of which nobody else is an owner who can take them over. */
    async withoutOtherOwner(userId: string): Promise<ProjectRecord[]> {
      const found: ProjectRecord[] = []
      for (const project of await moves.sharedOf(userId)) {
        const heir = await heirOf(project)
        // A group may be empty.
        const isUsed = heir !== undefined || project.members?.some(({ user_id: id }) => id !== undefined) === true
        if (isUsed && heir?.role !== 'owner') found.push(project)
      }
      return found
    },

    /**
     * Before an account is deleted: gives each project that it holds and shares to its oldest other owner; with
     * `hand_over`, one without another owner to the member who may do most. Members by a group count, after those who are
     * it themselves. The others are deleted with the account. `notify` is told of each before it is given. Safe to repeat.
     */
    async ofDeletedAccount(
      userId: string,
      choice: SharedProjects | undefined,
      notify: (outcome: ProjectOutcome) => Promise<void>,
    ): Promise<void> {
      for (const project of await moves.unfinished({ 'moving.from': userId })) await move(project, true)
      for (const project of await moves.sharedOf(userId)) {
        const projectId = project._id
        const heir = await heirOf(project)
        if (heir === undefined || (heir.role !== 'owner' && choice !== 'hand_over')) {
          await notify({ project_id: projectId, outcome: 'deleted' })
          continue
        }
        const { userId: to } = heir
        await notify({ project_id: projectId, outcome: 'handed_over', to })
        await give(projectId, () => to, true)
      }
    },

    /** What still names the former holders of projects is moved; some of it was made beside the change. */
    async sweep(now = Date.now()): Promise<void> {
      for (const project of await moves.unfinished()) {
        const { moving } = project
        await move(project, false)
        if (moving !== undefined && moving.at.getTime() < now - finishedAfterMs)
          await moves.finished(project._id, moving.from)
      }
    },

    countUnfinished: moves.countUnfinished,
    finish: async (userIds: string[]): Promise<void> => {
      for (const userId of userIds)
        for (const project of await moves.unfinished({ 'moving.from': userId })) await move(project, true)
    },
  }
}

function byRightThenAge(a: MemberRecord, b: MemberRecord): number {
  const byRight = projectRoles.indexOf(b.role) - projectRoles.indexOf(a.role)
  return byRight === 0 ? a.created_at.getTime() - b.created_at.getTime() : byRight
}

function ownerIn({ user_id: holder, members = [] }: ProjectRecord, memberId: string): string {
  if (memberId === holder) return holder
  const member = members.find(({ id }) => id === memberId)
  if (member?.group_id !== undefined)
    throw new AppError('conflict', 'A group cannot hold a project: invite one of its people, and name that member.')
  if (member?.user_id === undefined) throw new AppError('not_found', 'There is no such member.')
  if (member.role !== 'owner')
    throw new AppError('conflict', 'Only an owner can hold the project: give this member that role first.')
  return member.user_id
}

function asOwner(userId: string): MemberRecord {
  return { id: newId(), user_id: userId, role: 'owner', email: '', created_at: new Date() }
}

/** Names of projects are unique in an account. */
async function freeName(
  { hasName }: Pick<ProjectMoves, 'hasName'>,
  userId: string,
  name: string,
  session: ClientSession,
): Promise<string> {
  for (let number = 2, tried = name; number <= namesTried; number += 1) {
    if (!(await hasName(userId, tried, session))) return tried
    const addition = ` (${number})`
    tried = `${cutText(name, nameLength - addition.length)}${addition}`
  }
  return `${cutText(name, nameLength - 39)} (${newId()})`
}

const noProject = () => new AppError('not_found', 'There is no such project.')
