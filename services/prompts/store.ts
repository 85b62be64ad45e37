import type { ClientSession } from 'mongoose'
import { type PromptRecord, promptLimits } from '../../domain/records/prompt.ts'
import type { Collections } from '../collections.ts'
import { isDeleted } from '../stores/results.ts'

/** All statements on `prompts`; each names the user whose they are. */
export const promptStore = ({ prompts }: Pick<Collections, 'prompts'>) => ({
  /** By name. */
  listOwned: async (userId: string) =>
    prompts.find({ user_id: userId }).sort({ name: 1, _id: 1 }).limit(promptLimits.prompts).lean<PromptRecord[]>(),

  findOwned: async (userId: string, id: string) => prompts.findOne({ _id: id, user_id: userId }).lean<PromptRecord>(),

  countOwned: async (userId: string, session: ClientSession) =>
    prompts.countDocuments({ user_id: userId }, { session }),

  async add(prompt: PromptRecord, session: ClientSession): Promise<void> {
    await prompts.create([prompt], { session })
  },

  /** The changed prompt; null if there is none. */
  changeOwned: async (userId: string, id: string, $set: Partial<PromptRecord>) =>
    prompts.findOneAndUpdate({ _id: id, user_id: userId }, { $set }, { returnDocument: 'after' }).lean<PromptRecord>(),

  /** Those that are shared with a project, by name. */
  listInProject: (projectId: string): Promise<PromptRecord[]> =>
    prompts
      .find({ project_id: projectId })
      .sort({ name: 1, _id: 1 })
      .limit(promptLimits.inProject)
      .lean<PromptRecord[]>()
      .exec(),

  countInProject: (projectId: string, session: ClientSession): Promise<number> =>
    prompts.countDocuments({ project_id: projectId }, { session }).exec(),

  /** The prompt, now shared with this project; null if there is none. */
  shareOwned: (userId: string, id: string, projectId: string, session: ClientSession): Promise<PromptRecord | null> =>
    prompts
      .findOneAndUpdate(
        { _id: id, user_id: userId },
        { $set: { project_id: projectId } },
        { returnDocument: 'after', session },
      )
      .lean<PromptRecord>()
      .exec(),

  /** Those of a user in this project are only his own again. */
  unshareAll: async (userId: string, projectId: string) =>
    prompts.updateMany({ user_id: userId, project_id: projectId }, { $unset: { project_id: 1 } }),

  /** Of whomever it is; null if the project has no such prompt. */
  changeInProject: (
    projectId: string,
    id: string,
    by: { user_id?: string },
    update: { $set: Partial<PromptRecord> } | { $unset: { project_id: 1 } },
  ): Promise<PromptRecord | null> =>
    prompts
      .findOneAndUpdate({ _id: id, project_id: projectId, ...by }, update, { returnDocument: 'after' })
      .lean<PromptRecord>()
      .exec(),

  findInProject: (projectId: string, id: string): Promise<PromptRecord | null> =>
    prompts.findOne({ _id: id, project_id: projectId }).lean<PromptRecord>().exec(),

  /** False if there is none. */
  removeOwned: async (userId: string, id: string) => isDeleted(await prompts.deleteOne({ _id: id, user_id: userId })),
})
