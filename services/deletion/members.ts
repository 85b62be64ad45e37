import type { DeletionTarget } from '../../domain/contracts/deletion.ts'
import type { Collections } from '../collections.ts'
import type { Members } from '../owned-data/data-store.ts'

export type OwnerCollections = Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads'>

/** The projects, assistants and threads that a deletion removes, including the root. */
export async function ownedBy({ projects }: Pick<OwnerCollections, 'projects'>, { kind, id }: DeletionTarget) {
  const nothing = { _id: { $in: [] as string[] } }
  switch (kind) {
    case 'account': {
      // With its projects go the threads of their members.
      const held = await projects.find({ user_id: id }, { _id: 1 }).lean()
      const threads = { $or: [{ user_id: id }, { project_id: { $in: held.map((project) => project._id) } }] }
      return { projects: { user_id: id }, assistants: { user_id: id }, threads }
    }
    case 'project':
      return { projects: { _id: id }, assistants: { project_id: id }, threads: { project_id: id } }
    case 'assistant':
      // Its public threads belong to it, with those below them; private threads belong to their users and only lose the reference.
      return {
        projects: nothing,
        assistants: { _id: id },
        threads: { $or: [{ assistant_id: id, public: true }, { asked_for: id }] },
      }
    case 'vector_store':
      return { projects: nothing, assistants: { _id: id }, threads: nothing }
    case 'thread':
      return { projects: nothing, assistants: nothing, threads: { $or: [{ _id: id }, { asked_from: id }] } }
  }
}

/** The current members. Complete once the deletion markers are set, because nothing can be created below them. */
export async function membersOf(collections: OwnerCollections, target: DeletionTarget): Promise<Members> {
  const { projects, assistants, threads } = collections
  const owned = await ownedBy(collections, target)
  const marked = { deleting: true }
  const [projectIds, assistantIds, threadIds] = await Promise.all([
    projects.find({ ...owned.projects, ...marked }, { _id: 1 }).lean(),
    assistants.find({ ...owned.assistants, ...marked }, { _id: 1 }).lean(),
    threads.find({ ...owned.threads, ...marked }, { _id: 1 }).lean(),
  ])
  const ids = (records: { _id: string }[]) => records.map((record) => record._id)
  return {
    userIds: target.kind === 'account' ? [target.id] : [],
    projectIds: ids(projectIds),
    assistantIds: ids(assistantIds),
    threadIds: ids(threadIds),
  }
}
