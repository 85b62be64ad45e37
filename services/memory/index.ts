import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type MemoryScope, memorySpaces, scopeKey } from '../../domain/memory/memory-scope.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { ProjectRecord } from '../../domain/records/project.ts'
import type { Assistants } from '../assistants/index.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { deleteVectorsOfFile } from '../knowledge/vector-spaces.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { scopeOf } from './embed-facts.ts'
import { type EraseFact, type EraseFactDeps, tombstone } from './erase-fact.ts'
import { shown } from './find-facts.ts'
import { callerHash, sameTextHash, storedText } from './same-text.ts'
import { type StoreFact, type StoreFactDeps, holdScope, placeOf } from './store-fact.ts'

export type Memories = ReturnType<typeof createMemories>

export interface MemoriesDeps extends Omit<StoreFactDeps, 'embedFacts'>, Pick<EraseFactDeps, 'vectors'> {
  assistants: Pick<Assistants, 'readOwn'>
  storeFact: StoreFact
  eraseFact: EraseFact
}

/** What a request says about a fact. */
interface FactInput {
  text: string
  assistant_id?: string
  project_id?: string
  source_message_id?: string
}

/** Null removes a member. */
interface FactChange {
  text?: string
  assistant_id?: string | null
  project_id?: string | null
  source_message_id?: string | null
}

interface FactFilter {
  assistant_id?: string
  project_id?: string
  /** The name of a caller of the assistant: only this caller's facts. Otherwise callers' facts are left out. */
  user?: string
}

const ids = ['assistant_id', 'project_id'] as const

/** Facts as the owner of an account sees them. Another user's fact is answered like a missing one: `not_found`. */
export function createMemories({
  collections,
  transaction,
  vectors,
  assistants,
  storeFact,
  eraseFact,
  onError,
}: MemoriesDeps) {
  const { memories } = collections

  async function read(userId: string, memoryId: string): Promise<MemoryRecord> {
    return present(await memories.findOne({ _id: memoryId, user_id: userId, ...shown() }).lean<MemoryRecord>())
  }

  return {
    read,

    /** Newest first. Throws `invalid_input` for a caller without an assistant. */
    list(userId: string, filter: FactFilter, range: PageRange): Promise<Page<MemoryRecord>> {
      const { assistant_id, project_id, user } = filter
      if (user !== undefined && assistant_id === undefined)
        throw invalidInput(['query', 'user'], 'needs the assistant_id that this caller uses')
      const caller =
        user === undefined || assistant_id === undefined ? { $exists: false } : callerHash(assistant_id, user)
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
    async create(userId: string, given: FactInput, memoryId: string = newId(), made?: Date): Promise<MemoryRecord> {
      const scope = await requestedScope(userId, given)
      return storeFact.store({
        id: memoryId,
        userId,
        scope,
        text: given.text,
        sourceMessageId: given.source_message_id,
        madeBy: 'user',
        ...(made === undefined ? {} : { createdAt: made }),
      })
    },

    /** Throws `conflict` if the scope has another fact with this text. */
    async update(userId: string, memoryId: string, change: FactChange): Promise<MemoryRecord> {
      const before = await read(userId, memoryId)
      const scope = ids.some((id) => change[id] !== undefined)
        ? await requestedScope(userId, changedPlace(before, change))
        : scopeOf(before)
      const text = storedText(change.text ?? before.text)
      const isMoved = scopeKey(scope) !== before.scope
      const { scope: _, ...place } = placeOf(scope)
      const $set = {
        ...placeOf(scope),
        text,
        text_hash: sameTextHash(text),
        updated_at: new Date(),
        ...(change.source_message_id ? { source_message_id: change.source_message_id } : {}),
      }
      const isEmbedded = !isMoved && text === before.text
      const $unset = {
        ...(isEmbedded ? {} : { embedded_with: 1, refused_by: 1 }),
        ...Object.fromEntries(ids.filter((id) => place[id] === undefined).map((id) => [id, 1])),
        ...(change.source_message_id === null ? { source_message_id: 1 } : {}),
      }
      const after = await write(before, scope, { $set, $unset })
      if (isMoved) await deleteVectorsOfFile(vectors, memorySpaces(scopeOf(before)), memoryId).catch(onError)
      if (!isEmbedded) await storeFact.embed(after)
      return after
    },

    /** The fact is hidden at once. If the vector store is away, a worker removes the vector later. */
    async remove(userId: string, memoryId: string): Promise<void> {
      const own = { _id: memoryId, user_id: userId, ...shown() }
      const fact = present(
        await memories.findOneAndUpdate(own, tombstone(memoryId), { returnDocument: 'after' }).lean<MemoryRecord>(),
      )
      await eraseFact(fact).catch(onError)
    },
  }

  async function write(before: MemoryRecord, scope: MemoryScope, update: object): Promise<MemoryRecord> {
    const same = { _id: before._id, user_id: before.user_id, scope: before.scope, ...shown() }
    try {
      return await transaction(async (session) => {
        await holdScope(collections, before.user_id, scope, session)
        const options = { session, returnDocument: 'after' } as const
        return present(await memories.findOneAndUpdate(same, update, options).lean<MemoryRecord>())
      })
    } catch (error) {
      if (isDuplicateKey(error)) throw new AppError('conflict', 'There is already a fact with this text.')
      throw error
    }
  }

  /** Throws `invalid_input` for two owners, and for one that the user does not have `not_found` or `forbidden`. */
  async function requestedScope(
    userId: string,
    { assistant_id: assistantId, project_id: projectId }: Pick<FactInput, 'assistant_id' | 'project_id'>,
  ): Promise<MemoryScope> {
    if (assistantId !== undefined && projectId !== undefined)
      throw invalidInput(['body', 'project_id'], 'cannot be given together with assistant_id')
    if (assistantId !== undefined) {
      await assistants.readOwn(userId, assistantId)
      return { kind: 'assistant', id: assistantId }
    }
    if (projectId === undefined) return { kind: 'user', id: userId }
    const present = { _id: projectId, deleting: { $ne: true } } as const
    const project = await collections.projects.findOne(present, { user_id: 1 }).lean<Pick<ProjectRecord, 'user_id'>>()
    if (project === null) throw new AppError('not_found', 'There is no such project.')
    if (project.user_id !== userId) throw new AppError('forbidden', 'This project belongs to another user.')
    return { kind: 'project', id: projectId }
  }
}

/** Whom the changed fact is for: an owner that is named replaces the other one. */
function changedPlace(before: MemoryRecord, change: FactChange): Pick<FactInput, 'assistant_id' | 'project_id'> {
  if (before.caller !== undefined) throw invalidInput(['body'], 'a fact about a caller stays with this caller')
  const named = ids.filter((id) => typeof change[id] === 'string')
  const kept = named.length > 0 ? named : ids.filter((id) => change[id] === undefined)
  return Object.fromEntries(
    kept.flatMap((id) => {
      const value = change[id] ?? before[id]
      return value === undefined ? [] : [[id, value]]
    }),
  )
}

const missing = () => new AppError('not_found', 'There is no such fact.')

function present(fact: MemoryRecord | null): MemoryRecord {
  if (fact === null) throw missing()
  return fact
}
