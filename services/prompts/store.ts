import type { ClientSession } from 'mongoose'
import { type PromptRecord, promptLimits } from '../../domain/records/prompt.ts'
import type { Collections } from '../collections.ts'

/** All statements on `prompts`; each names the user whose they are. */
export const promptStore = ({ prompts }: Pick<Collections, 'prompts'>) => ({
  /** By name. */
  listOwned: (userId: string): Promise<PromptRecord[]> =>
    prompts
      .find({ user_id: userId })
      .sort({ name: 1, _id: 1 })
      .limit(promptLimits.prompts)
      .lean<PromptRecord[]>()
      .exec(),

  findOwned: (userId: string, id: string): Promise<PromptRecord | null> =>
    prompts.findOne({ _id: id, user_id: userId }).lean<PromptRecord>().exec(),

  countOwned: (userId: string, session: ClientSession): Promise<number> =>
    prompts.countDocuments({ user_id: userId }, { session }).exec(),

  async add(prompt: PromptRecord, session: ClientSession): Promise<void> {
    await prompts.create([prompt], { session })
  },

  /** The changed prompt; null if there is none. */
  changeOwned: (userId: string, id: string, $set: Partial<PromptRecord>): Promise<PromptRecord | null> =>
    prompts
      .findOneAndUpdate({ _id: id, user_id: userId }, { $set }, { returnDocument: 'after' })
      .lean<PromptRecord>()
      .exec(),

  /** False if there is none. */
  async removeOwned(userId: string, id: string): Promise<boolean> {
    return (await prompts.deleteOne({ _id: id, user_id: userId })).deletedCount > 0
  },
})
