import { invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { type ChangeFactDeps, type FactChange, createChangeFact, present } from './change-fact.ts'
import { type EraseFact, tombstone } from './erase-fact.ts'
import { shown } from './find-facts.ts'
import { type NamedOwner, requestedScope } from './requested-scope.ts'
import { personNamed } from '../person-named.ts'
import { callerHash } from './same-text.ts'
import type { NewFact, StoreFact } from './store-fact.ts'

export type Memories = ReturnType<typeof createMemories>

export interface MemoriesDeps extends ChangeFactDeps {
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
  const { memories } = collections
  const change = createChangeFact(deps)

  async function read(userId: string, memoryId: string): Promise<MemoryRecord> {
    return present(await memories.findOne({ _id: memoryId, user_id: userId, ...shown() }).lean<MemoryRecord>())
  }

  return {
    read,

    /** Also one that is hidden. */
    has: async (userId: string, memoryId: string): Promise<boolean> =>
      (await memories.exists({ _id: memoryId, user_id: userId })) !== null,

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
        user_id: userId,
        ...(assistant_id === undefined ? {} : { assistant_id }),
        ...(project_id === undefined ? {} : { project_id }),
        caller,
        ...shown(),
      }
      const query = memories.find(own).sort({ _id: -1 }).lean<MemoryRecord>()
      return readPage(query, range, (fact) => Buffer.byteLength(JSON.stringify(fact)))
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
      const own = { _id: memoryId, user_id: userId, ...shown() }
      const fact = present(
        await memories.findOneAndUpdate(own, tombstone(memoryId), { returnDocument: 'after' }).lean<MemoryRecord>(),
      )
      await eraseFact(fact).catch(onError)
    },
  }
}
