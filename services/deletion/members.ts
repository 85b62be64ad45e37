import type { DeletionTarget } from '../../domain/contracts/deletion.ts'
import type { Members } from '../owned-data/data-store.ts'
import { type OwnedFilters, type OwnerCollections, deletedOwnerStore } from './store.ts'

/** The projects, assistants and threads that a deletion removes, including the root. */
export async function ownedBy(collections: OwnerCollections, { kind, id }: DeletionTarget): Promise<OwnedFilters> {
  const nothing = { _id: { $in: [] as string[] } }
  switch (kind) {
    case 'account': {
      // With its projects go the threads of their members.
      const held = await deletedOwnerStore(collections).heldProjects(id)
      const threads = { $or: [{ user_id: id }, { project_id: { $in: held } }] }
      return { projects: { user_id: id }, assistants: { user_id: id }, threads }
    }
    case 'project':
      return { projects: { _id: id }, assistants: { project_id: id }, threads: { project_id: id } }
    case 'assistant':
      // Its public threads belong to it, with those below them; private threads belong to their users and only lose the
      // reference.
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
  const userIds = target.kind === 'account' ? [target.id] : []
  return { userIds, ...(await deletedOwnerStore(collections).markedIdsOfAny(await ownedBy(collections, target))) }
}
