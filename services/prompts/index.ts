import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type PromptRecord, promptLimits } from '../../domain/records/prompt.ts'
import type { Collections } from '../collections.ts'
import { holdUser } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'

export type Prompts = ReturnType<typeof createPrompts>

export interface PromptsDeps {
  collections: Pick<Collections, 'users' | 'prompts'>
  transaction: RunInTransaction
}

type Words = Pick<PromptRecord, 'name' | 'text'>

/** The prompts that users keep. Another user's prompt is answered like a missing one: `not_found`. */
export function createPrompts({ collections, transaction }: PromptsDeps) {
  const { prompts } = collections

  return {
    /** By name. */
    list: (userId: string): Promise<PromptRecord[]> =>
      prompts
        .find({ user_id: userId })
        .sort({ name: 1, _id: 1 })
        .limit(promptLimits.prompts)
        .lean<PromptRecord[]>()
        .exec(),

    async read(userId: string, promptId: string): Promise<PromptRecord> {
      return present(await prompts.findOne({ _id: promptId, user_id: userId }).lean<PromptRecord>())
    },

    /** Throws `forbidden` for more than a user may have. */
    async create(userId: string, words: Words, promptId: string = newId(), made = new Date()): Promise<PromptRecord> {
      const prompt = { _id: promptId, user_id: userId, ...checked(words), created_at: made, updated_at: made }
      await transaction(async (session) => {
        // Two creations at once both write to the user's record: one of them is repeated, and counts the other.
        await holdUser(collections, userId, session)
        if ((await prompts.countDocuments({ user_id: userId }, { session })) >= promptLimits.prompts)
          throw new AppError('forbidden', `An account has at most ${promptLimits.prompts} prompts. Delete one first.`)
        await prompts.create([prompt], { session })
      })
      return prompt
    },

    async replace(userId: string, promptId: string, words: Words): Promise<PromptRecord> {
      return present(
        await prompts
          .findOneAndUpdate(
            { _id: promptId, user_id: userId },
            { $set: { ...checked(words), updated_at: new Date() } },
            { returnDocument: 'after' },
          )
          .lean<PromptRecord>(),
      )
    },

    async remove(userId: string, promptId: string): Promise<void> {
      const { deletedCount } = await prompts.deleteOne({ _id: promptId, user_id: userId })
      if (deletedCount === 0) throw missing()
    },
  }
}

/** One that shows nothing could be neither found nor used. */
function checked({ name, text }: Words): Words {
  if (name.trim() === '' || text.trim() === '') throw new AppError('bad_request', 'A prompt needs a name and a text.')
  return { name: name.trim(), text }
}

const missing = () => new AppError('not_found', 'There is no such prompt.')

function present(prompt: PromptRecord | null): PromptRecord {
  if (prompt === null) throw missing()
  return prompt
}
