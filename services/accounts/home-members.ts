import { AppError } from '../../domain/errors.ts'
import type { Assistants } from '../assistants/index.ts'
import { isNew } from '../duplicate-key.ts'
import { threadStore } from '../stores/threads.ts'
import type { CreateThread } from '../threads/create-thread.ts'
import type { HomeMembers } from './home.ts'
import { type HomeCollections, homeStore } from './store.ts'

interface HomeMembersDeps {
  collections: HomeCollections
  assistants: Pick<Assistants, 'createUnder'>
  createThread: CreateThread
}

/** Creates the default assistant and thread of a home in the same way as all others. */
export function createHomeMembers({ collections, assistants, createThread }: HomeMembersDeps): HomeMembers {
  const { hasAssistant, newestThread } = homeStore(collections)

  return {
    hasAssistant,
    hasThread: threadStore(collections).isPresent,
    newestThread,

    async createAssistant(caller, assistantId) {
      // Another request may be first.
      await isNew(assistants.createUnder(caller, assistantId, { name: 'Assistant' }))
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
        await isNew(createThread(thread))
        return true
      } catch (error) {
        if (error instanceof AppError && error.code === 'forbidden') return false
        throw error
      }
    },
  }
}
