import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type PromptRecord, promptLimits } from '../../domain/records/prompt.ts'
import type { Collections } from '../collections.ts'
import { holdUser } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { promptStore } from './store.ts'

export type Prompts = ReturnType<typeof createPrompts>

export interface PromptsDeps {
  collections: Pick<Collections, 'users' | 'prompts'>
  transaction: RunInTransaction
}

type Words = Pick<PromptRecord, 'name' | 'text'>

/** The prompts that users keep. Another user's prompt is answered like a missing one: `not_found`. */
export function createPrompts({ collections, transaction }: PromptsDeps) {
  const store = promptStore(collections)

  return {
    /** By name. */
    list: store.listOwned,

    read: async (userId: string, promptId: string): Promise<PromptRecord> =>
      present(await store.findOwned(userId, promptId)),

    /** Throws `forbidden` for more than a user may have. */
    async create(userId: string, words: Words, promptId: string = newId(), made = new Date()): Promise<PromptRecord> {
      const prompt = { _id: promptId, user_id: userId, ...checked(words), created_at: made, updated_at: made }
      await transaction(async (session) => {
        // Two creations at once both write to the user's record: one of them is repeated, and counts the other.
        await holdUser(collections, userId, session)
        if ((await store.countOwned(userId, session)) >= promptLimits.prompts)
          throw new AppError('forbidden', `An account has at most ${promptLimits.prompts} prompts. Delete one first.`)
        await store.add(prompt, session)
      })
      return prompt
    },

    replace: async (userId: string, promptId: string, words: Words): Promise<PromptRecord> =>
      present(await store.changeOwned(userId, promptId, { ...checked(words), updated_at: new Date() })),

    async remove(userId: string, promptId: string): Promise<void> {
      if (!(await store.removeOwned(userId, promptId))) throw missing()
    },

    has: async (userId: string, promptId: string): Promise<boolean> =>
      (await store.findOwned(userId, promptId)) !== null,
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
