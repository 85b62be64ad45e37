import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type PromptRecord, promptLimits } from '../../domain/records/prompt.ts'
import type { Collections } from '../collections.ts'
import { type Caller, lacking, mayEdit } from '../owner.ts'
import { lockProject, lockUser } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { promptStore } from './store.ts'

export type Prompts = ReturnType<typeof createPrompts>

interface PromptsDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'prompts'>
  transaction: RunInTransaction
}

type PromptText = Pick<PromptRecord, 'name' | 'text'>

/** The prompts that users keep. Another user's prompt is answered like a missing one: `not_found`. */
export function createPrompts({ collections, transaction }: PromptsDeps) {
  const store = promptStore(collections)

  async function changeShared(
    caller: Caller,
    promptId: string,
    update: Parameters<typeof store.changeInProject>[3],
  ): Promise<PromptRecord> {
    const { userId, projectId } = caller
    const by = mayEdit(caller) ? {} : { user_id: userId }
    const changed = await store.changeInProject(projectId, promptId, by, update)
    if (changed === null && !mayEdit(caller) && (await store.findInProject(projectId, promptId)) !== null)
      throw lacking(caller.role ?? 'viewer', 'editor')
    return present(changed)
  }

  return {
    /** By name. */
    list: store.listOwned,

    read: async (userId: string, promptId: string): Promise<PromptRecord> =>
      present(await store.findOwned(userId, promptId)),

    /** Throws `forbidden` for more than a user may have. */
    async create(
      userId: string,
      text: PromptText,
      promptId: string = newId(),
      made = new Date(),
    ): Promise<PromptRecord> {
      const prompt = { _id: promptId, user_id: userId, ...checked(text), created_at: made, updated_at: made }
      await transaction(async (session) => {
        // Two creations at once both write to the user's record: one of them is repeated, and counts the other.
        await lockUser(collections, userId, session)
        if ((await store.countOwned(userId, session)) >= promptLimits.prompts)
          throw new AppError('forbidden', `An account has at most ${promptLimits.prompts} prompts. Delete one first.`)
        await store.add(prompt, session)
      })
      return prompt
    },

    replace: async (userId: string, promptId: string, text: PromptText): Promise<PromptRecord> =>
      present(await store.changeOwned(userId, promptId, { ...checked(text), updated_at: new Date() })),

    async remove(userId: string, promptId: string): Promise<void> {
      if (!(await store.removeOwned(userId, promptId))) throw missing()
    },

    /** What the members of a project share with each other, by name. */
    listShared: ({ projectId }: Caller): Promise<PromptRecord[]> => store.listInProject(projectId),

    /** Shares a prompt of the caller with the project. Throws `forbidden` for more than a project may have. */
    async share({ userId, projectId }: Caller, promptId: string): Promise<PromptRecord> {
      return transaction(async (session) => {
        await lockProject(collections, { projectId, userId }, session)
        const shared = present(await store.shareOwned(userId, promptId, projectId, session))
        if ((await store.countInProject(projectId, session)) > promptLimits.inProject)
          throw new AppError('forbidden', `A project has at most ${promptLimits.inProject} prompts.`)
        return shared
      })
    },

    /** Who made it changes it, and an editor of the project. */
    replaceShared: (caller: Caller, promptId: string, text: PromptText): Promise<PromptRecord> =>
      changeShared(caller, promptId, { $set: { ...checked(text), updated_at: new Date() } }),

    /** It stays its maker's own. */
    async unshare(caller: Caller, promptId: string): Promise<void> {
      await changeShared(caller, promptId, { $unset: { project_id: 1 } })
    },

    has: async (userId: string, promptId: string): Promise<boolean> =>
      (await store.findOwned(userId, promptId)) !== null,
  }
}

/** One that shows nothing could be neither found nor used. */
function checked({ name, text }: PromptText): PromptText {
  if (name.trim() === '' || text.trim() === '') throw new AppError('bad_request', 'A prompt needs a name and a text.')
  return { name: name.trim(), text }
}

const missing = () => new AppError('not_found', 'There is no such prompt.')

function present(prompt: PromptRecord | null): PromptRecord {
  if (prompt === null) throw missing()
  return prompt
}
