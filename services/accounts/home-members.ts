import { AppError } from '../../domain/errors.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { CreateThread } from '../threads/create-thread.ts'
import type { HomeMembers } from './home.ts'

interface HomeMembersDeps {
  collections: Pick<Collections, 'assistants' | 'threads'>
  assistants: Pick<Assistants, 'createUnder'>
  createThread: CreateThread
}

/** Creates the default assistant and thread of a home in the same way as all others. */
export function createHomeMembers({ collections, assistants, createThread }: HomeMembersDeps): HomeMembers {
  const present = { deleting: { $ne: true } } as const

  return {
    async assistantExists({ userId, projectId }, assistantId) {
      const filter = { _id: assistantId, user_id: userId, project_id: projectId, ...present }
      return (await collections.assistants.exists(filter)) !== null
    },

    async createAssistant(caller, assistantId) {
      await unlessThere(() => assistants.createUnder(caller, assistantId, { name: 'Assistant' }))
    },

    async threadExists({ userId, projectId }, threadId) {
      const filter = { _id: threadId, user_id: userId, project_id: projectId, ...present }
      return (await collections.threads.exists(filter)) !== null
    },

    async createThread(caller, threadId, assistantId) {
      const thread = {
        id: threadId,
        ...caller,
        assistantId,
        name: 'New conversation',
        metadataJson: '{}',
        public: false,
      }
      try {
        await unlessThere(() => createThread(thread))
        return true
      } catch (error) {
        if (error instanceof AppError && error.code === 'forbidden') return false
        throw error
      }
    },

    async newestThread({ userId, projectId }) {
      const newest = await collections.threads
        .findOne({ user_id: userId, project_id: projectId, public: false, ...present }, { _id: 1 })
        .sort({ updated_at: -1, _id: -1 })
        .lean()
      return newest?._id
    },
  }
}

/** Another request may have been first. */
async function unlessThere(insert: () => Promise<unknown>): Promise<void> {
  await insert().catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error
  })
}
