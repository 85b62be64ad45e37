import { AppError, isNotFound } from '../../domain/errors.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { ChangeFact } from './change-fact.ts'
import type { EraseFact } from './erase-fact.ts'
import type { FactStore } from './store.ts'

interface ReleaseFactsDeps {
  store: Pick<FactStore, 'listOfPositions' | 'hideOwned'>
  changeFact: ChangeFact
  eraseFact: EraseFact
}

/** A project that another account holds from now on. */
interface ReleasedScope {
  userId: string
  projectId: string
  assistantIds: string[]
}

export type ReleaseFacts = ReturnType<typeof createReleaseFacts>

/**
 * Facts are of a person: those of a user that only the assistants of one project were told are for all of his own when
 * another account gets the project (`keep`), or are erased. Safe to repeat.
 */
export function createReleaseFacts({ store, changeFact, eraseFact }: ReleaseFactsDeps) {
  async function erase({ user_id: userId, _id }: MemoryRecord): Promise<void> {
    const hidden = await store.hideOwned(userId, _id)
    if (hidden !== null) await eraseFact(hidden)
  }

  return async ({ userId, projectId, assistantIds }: ReleasedScope, what: 'keep' | 'erase'): Promise<void> => {
    for (const fact of await store.listOfPositions(userId, projectId, assistantIds)) {
      if (what === 'erase') {
        await erase(fact)
        continue
      }
      await changeFact(fact, { project_id: null, assistant_id: null }).catch(async (error: unknown) => {
        // All of his assistants know it already.
        if (error instanceof AppError && error.code === 'conflict') await erase(fact)
        else if (!isNotFound(error)) throw error
      })
    }
  }
}
