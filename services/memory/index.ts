import { invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { Page, PageRange } from '../page.ts'
import { personNamed } from '../person-named.ts'
import { type ChangeFactDeps, type FactChange, createChangeFact, present } from './change-fact.ts'
import type { EraseFact } from './erase-fact.ts'
import { type NamedOwner, requestedScope } from './requested-scope.ts'
import { callerHash } from './same-text.ts'
import type { NewFact, StoreFact } from './store-fact.ts'
import { factStore } from './store.ts'

export type Memories = ReturnType<typeof createMemories>

interface MemoriesDeps extends ChangeFactDeps {
  storeFact: StoreFact
  eraseFact: EraseFact
}

/** What a request says about a fact. */
interface FactInput extends NamedOwner {
  text: string
  source_message_id?: string
}

interface FactFilter extends NamedOwner {
  /** The name of a caller of the assistant: only this caller's facts. Otherwise callers' facts are left out. */
  user?: string
}

/** Facts as the owner of an account sees them. Another user's fact is answered like a missing one: `not_found`. */
export function createMemories(deps: MemoriesDeps) {
  const { collections, storeFact, eraseFact, onError } = deps
  const store = factStore(collections)
  const change = createChangeFact(deps)

  async function read(userId: string, memoryId: string): Promise<MemoryRecord> {
    return present(await store.findOwned(userId, memoryId))
  }

  return {
    read,

    /** Also one that is hidden. */
    has: store.hasOwned,

    /** Newest first. Throws `invalid_input` for a caller without an assistant. */
    list(userId: string, filter: FactFilter, range: PageRange): Promise<Page<MemoryRecord>> {
      const { assistant_id, project_id, user } = filter
      if (user !== undefined && assistant_id === undefined)
        throw invalidInput(['query', 'user'], 'needs the assistant_id that this caller uses')
      const caller =
        user === undefined || assistant_id === undefined
          ? { $exists: false }
          : callerHash(assistant_id, personNamed(user))
      const own = {
        ...(assistant_id === undefined ? {} : { assistant_id }),
        ...(project_id === undefined ? {} : { project_id }),
        caller,
      }
      return store.listOwned(userId, own, range)
    },

    /** A text that the scope has already is not stored again: the known fact is returned. */
    async create(
      userId: string,
      { text, source_message_id: sourceMessageId, ...owner }: FactInput,
      id: string = newId(),
      made: Pick<NewFact, 'createdAt' | 'madeBy'> = { madeBy: 'user' },
    ): Promise<MemoryRecord> {
      const scope = await requestedScope(deps, userId, owner)
      return storeFact.store({ id, userId, scope, text, sourceMessageId, ...made })
    },

    update: async (userId: string, memoryId: string, changed: FactChange): Promise<MemoryRecord> =>
      change(await read(userId, memoryId), changed),

    /** The fact is hidden at once. If the vector store is away, a worker removes the vector later. */
    async remove(userId: string, memoryId: string): Promise<void> {
      const fact = present(await store.hideOwned(userId, memoryId))
      await eraseFact(fact).catch(onError)
    },
  }
}
