import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { AppError, ifFound } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { VectorStoreRecord } from '../../domain/records/assistant.ts'
import { type FolderRecord, folderLimits } from '../../domain/records/folder.ts'
import type { Collections } from '../collections.ts'
import type { NewEntry } from '../knowledge/add-entries.ts'
import type { VectorStoreMembers } from '../knowledge/vector-stores.ts'
import { type Caller, requireEditor } from '../owner.ts'
import { lockProject, lockUser } from '../parents.ts'
import { projectFileStore } from '../stores/files.ts'
import { folderStore } from '../stores/folders.ts'
import { projectStore } from '../stores/projects.ts'
import { threadStore } from '../stores/threads.ts'
import { vectorStoreStore } from '../stores/vector-stores.ts'
import type { RunInTransaction } from '../transactions.ts'

export type Folders = ReturnType<typeof createFolders>

interface FoldersDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'threads' | 'assistants' | 'files' | 'folders'>
  transaction: RunInTransaction
  vectorStores: {
    create(caller: Caller, members: VectorStoreMembers): Promise<VectorStoreRecord>
    remove(caller: Caller, storeId: string): Promise<DeletionResult>
  }
  entries: {
    admit(): Promise<void>
    requireSource(caller: Caller, fileId: string): Promise<void>
    add(store: VectorStoreRecord, files: NewEntry[]): Promise<void>
  }
  projectFiles: { remove(caller: Caller, fileId: string): Promise<DeletionResult> }
}

interface FolderChanges {
  name?: string | undefined
  /** Null removes them. */
  instructions?: string | null | undefined
}

type Restored = Pick<FolderRecord, '_id' | 'project_id' | 'name' | 'instructions' | 'vector_store_id' | 'created_at'>

const filesAtOnce = 10
/** Whoever edits the project sees it: it says nothing of what a person calls his folders. */
const storeName = 'Files of a folder'
/** More than a folder takes can come through its vector store. */
const mostFiles = 1000

/**
 * A person's folders of chats in a project. Another person's folder, and one of another project, is answered like a
 * missing one: `not_found`. A thread names its folder; one that is gone is none.
 */
export function createFolders({ collections, transaction, vectorStores, entries, projectFiles }: FoldersDeps) {
  const store = folderStore(collections)
  const files = projectFileStore(collections)

  async function find(caller: Caller, folderId: string): Promise<FolderRecord> {
    return present(await store.findIn(caller, folderId))
  }

  /** Its vector store; undefined if it has none, or none any more. */
  async function storeOf({ project_id: projectId, vector_store_id: id }: FolderRecord) {
    return id === undefined ? undefined : ((await vectorStoreStore(collections).findOwned(projectId, id)) ?? undefined)
  }

  async function storeFor(caller: Caller, folder: FolderRecord): Promise<VectorStoreRecord> {
    const known = await storeOf(folder)
    if (known !== undefined) return known
    const made = await vectorStores.create(caller, { name: storeName })
    const changed = await store.giveStore(caller, folder._id, made._id, folder.vector_store_id)
    if (changed?.vector_store_id === made._id) return made
    // Another request was first, or the folder is gone.
    await vectorStores.remove(caller, made._id)
    const other = await storeOf(present(changed))
    if (other === undefined) throw missing()
    return other
  }

  async function add(folder: FolderRecord): Promise<void> {
    await transaction(async (session) => {
      const { user_id: userId, project_id: projectId } = folder
      // Two creations at once both write to the user's record: one of them is repeated, and counts the other.
      await lockUser(collections, userId, session)
      await lockProject(collections, { userId, projectId }, session)
      if ((await store.countOwned(userId, session)) >= folderLimits.folders)
        throw new AppError('forbidden', `An account has at most ${folderLimits.folders} folders. Delete one first.`)
      await store.add(folder, session)
    })
  }

  return {
    /** By name. */
    list: store.listOwned,

    read: find,

    /** Throws `forbidden` for more than an account may have. */
    async create(
      caller: Caller,
      changes: FolderChanges & { name: string },
      id: string = newId(),
    ): Promise<FolderRecord> {
      const { userId, projectId } = caller
      const now = new Date()
      const { set } = changesOf(changes)
      const folder = { ...set, _id: id, user_id: userId, project_id: projectId, name: named(changes.name) }
      const made: FolderRecord = { ...folder, created_at: now, updated_at: now }
      await add(made)
      return made
    },

    /** Changes the given members. */
    async change(caller: Caller, folderId: string, changes: FolderChanges): Promise<FolderRecord> {
      const { set, unset } = changesOf(changes)
      const change = { $set: { ...set, updated_at: new Date() }, ...(unset === undefined ? {} : { $unset: unset }) }
      return present(await store.changeIn(caller, folderId, change))
    },

    /**
     * Adds a file of the project, which is then searched in every chat of the folder. Its vector store is made with the
     * first. Throws `not_found` for a file of another project, `forbidden` for more than a folder may have.
     */
    async addFile(caller: Caller, folderId: string, fileId: string): Promise<FolderRecord> {
      requireEditor(caller)
      const folder = await find(caller, folderId)
      await entries.admit()
      await entries.requireSource(caller, fileId)
      const shelf = await storeFor(caller, folder)
      const { entries: known } = await files.pageEntries(shelf._id, { limit: folderLimits.files, order: 'asc' })
      if (known.length >= folderLimits.files && known.every(({ source_id: id }) => id !== fileId))
        throw new AppError('forbidden', `A folder has at most ${folderLimits.files} files. Remove one first.`)
      await entries.add(shelf, [{ fileId }])
      return find(caller, folderId)
    },

    /**
     * Deletes the folder and its files, but none that is also elsewhere or that somebody else has uploaded. Its chats stay,
     * without a folder. Safe to repeat.
     */
    async remove(caller: Caller, folderId: string): Promise<void> {
      const folder = await find(caller, folderId)
      const shelf = await storeOf(folder)
      if (shelf !== undefined) {
        // An earlier attempt may have removed some.
        for (const ids of await ownFiles(caller, shelf))
          await Promise.all(ids.map((id) => ifFound(projectFiles.remove(caller, id))))
        await ifFound(vectorStores.remove(caller, shelf._id))
      }
      if (!(await store.removeOwned(caller.userId, folderId))) throw missing()
      await threadStore(collections).leaveFolder(caller.userId, folderId)
    },

    /** One of an archive: in its project, or in the oldest of the account if that did not come with it. */
    async restore(folder: Restored & Pick<FolderRecord, 'user_id'>): Promise<'imported' | 'existing'> {
      const { user_id: userId } = folder
      if ((await store.findOwned(userId, folder._id)) !== null) return 'existing'
      const projects = projectStore(collections)
      const isThere = await projects.hasOwned(userId, folder.project_id)
      const projectId = isThere ? folder.project_id : await projects.oldestOf(userId)
      if (projectId === undefined) throw new AppError('bad_request', 'there is no project for it')
      await add({ ...folder, name: named(folder.name), project_id: projectId, updated_at: folder.created_at })
      return 'imported'
    },
  }

  /** The caller's files that are in no other vector store, some at once. */
  async function ownFiles({ userId, holderId }: Caller, shelf: VectorStoreRecord): Promise<string[][]> {
    const uploaders = holderId === undefined ? [userId, null] : [userId]
    const found = await files.sourcesOnlyIn(shelf._id, uploaders, mostFiles)
    const groups: string[][] = []
    for (let index = 0; index < found.length; index += filesAtOnce) groups.push(found.slice(index, index + filesAtOnce))
    return groups
  }
}

function changesOf({ name, instructions }: FolderChanges) {
  const text = instructions?.trim()
  return {
    set: { ...(name === undefined ? {} : { name: named(name) }), ...(text ? { instructions: text } : {}) },
    unset: instructions === undefined || text ? undefined : { instructions: 1 as const },
  }
}

function named(name: string): string {
  if (name.trim() === '') throw new AppError('bad_request', 'A folder needs a name.')
  return name.trim()
}

const missing = () => new AppError('not_found', 'There is no such folder.')

function present(folder: FolderRecord | null): FolderRecord {
  if (folder === null) throw missing()
  return folder
}
