import type { ClientSession, UpdateQuery } from 'mongoose'
import { type FolderRecord, folderLimits } from '../../domain/records/folder.ts'
import type { Collections } from '../collections.ts'
import type { UserInProject } from '../owner.ts'
import { isDeleted } from './results.ts'

/** Statements on `folders`; each names the person whose they are. */
export const folderStore = ({ folders }: Pick<Collections, 'folders'>) => ({
  /** In a project, by name. */
  listOwned: ({ userId, projectId }: UserInProject): Promise<FolderRecord[]> =>
    folders
      .find({ user_id: userId, project_id: projectId })
      .sort({ name: 1, _id: 1 })
      .limit(folderLimits.folders)
      .lean<FolderRecord[]>()
      .exec(),

  idsOwned: async ({ userId, projectId }: UserInProject): Promise<string[]> => {
    const found = await folders
      .find({ user_id: userId, project_id: projectId }, { _id: 1 })
      .limit(folderLimits.folders)
      .lean<Pick<FolderRecord, '_id'>[]>()
    return found.map(({ _id }) => _id)
  },

  findOwned: (userId: string, id: string): Promise<FolderRecord | null> =>
    folders.findOne({ _id: id, user_id: userId }).lean<FolderRecord>().exec(),

  /** Null also for one in another project. */
  findIn: ({ userId, projectId }: UserInProject, id: string): Promise<FolderRecord | null> =>
    folders.findOne({ _id: id, user_id: userId, project_id: projectId }).lean<FolderRecord>().exec(),

  countOwned: (userId: string, session: ClientSession): Promise<number> =>
    folders.countDocuments({ user_id: userId }, { session }).exec(),

  async add(folder: FolderRecord, session: ClientSession): Promise<void> {
    await folders.create([folder], { session })
  },

  /** The changed folder; null if there is none. */
  changeIn: (
    { userId, projectId }: UserInProject,
    id: string,
    change: UpdateQuery<FolderRecord>,
  ): Promise<FolderRecord | null> =>
    folders
      .findOneAndUpdate({ _id: id, user_id: userId, project_id: projectId }, change, { returnDocument: 'after' })
      .lean<FolderRecord>()
      .exec(),

  /** Of two that give it a vector store at once, one does. The folder as it is then; null if there is none. */
  async giveStore(
    owner: UserInProject,
    id: string,
    storeId: string,
    before: string | undefined,
  ): Promise<FolderRecord | null> {
    const own = { _id: id, user_id: owner.userId, project_id: owner.projectId }
    await folders.updateOne(
      { ...own, vector_store_id: before ?? { $exists: false } },
      { $set: { vector_store_id: storeId, updated_at: new Date() } },
    )
    return folders.findOne(own).lean<FolderRecord>()
  },

  /** False if there is none. */
  removeOwned: async (userId: string, id: string): Promise<boolean> =>
    isDeleted(await folders.deleteOne({ _id: id, user_id: userId })),

  /** Those of who leaves the project; their vector stores. */
  async removeAllIn({ userId, projectId }: UserInProject): Promise<string[]> {
    const own = { user_id: userId, project_id: projectId }
    const found = await folders.find(own, { vector_store_id: 1 }).lean<Pick<FolderRecord, 'vector_store_id'>[]>()
    await folders.deleteMany(own)
    return found.flatMap(({ vector_store_id: id }) => id ?? [])
  },
})
