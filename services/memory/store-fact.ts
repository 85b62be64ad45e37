import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import { type MemoryScope, scopeKey } from '../../domain/memory/memory-scope.ts'
import { type MemoryRecord, memoryLimits } from '../../domain/records/memory.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { lockAssistant, lockProject, lockUser } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { EmbedFacts } from './embed-facts.ts'
import { sameTextHash, storedText } from './same-text.ts'
import { factStore } from './store.ts'

export interface StoreFactDeps {
  collections: Pick<Collections, 'memories' | 'users' | 'projects' | 'assistants'>
  transaction: RunInTransaction
  embedFacts: EmbedFacts
  onError(error: unknown): void
}

export interface NewFact {
  /** Another attempt to store the fact has the same. */
  id: string
  userId: string
  scope: MemoryScope
  text: string
  sourceMessageId?: string | undefined
  runId?: string
  madeBy: MemoryRecord['made_by']
  createdAt?: Date
}

const dayMs = 86_400_000
/** How long a request waits for the vector. A worker stores it later otherwise. */
const embedMs = 10_000

export type StoreFact = ReturnType<typeof createStoreFact>

/**
 * Stores a fact, and its vector after it. A text that the scope has already, and a fact that an earlier attempt has
 * stored, are not stored again: the known fact is returned, as good as new. Throws `invalid_input` for a text that cannot be
 * stored, `forbidden` beyond a limit, and `not_found` or `forbidden` if the scope is being deleted.
 */
export function createStoreFact({ collections, transaction, embedFacts, onError }: StoreFactDeps) {
  const facts = factStore(collections)

  async function known({ id, scope }: NewFact, text_hash: string, now: Date): Promise<MemoryRecord | undefined> {
    const renewed = { updated_at: now, ...expiryOf(scope, now) }
    const found = await facts.renewInScope(scopeKey(scope), { id, text_hash }, renewed)
    return found ?? undefined
  }

  async function insert(fact: MemoryRecord, scope: MemoryScope): Promise<void> {
    await transaction(async (session) => {
      // Of two creations at once one is repeated, and counts the other.
      await lockScope(collections, fact.user_id, scope, session)
      await requireRoom(collections, fact, session)
      await facts.add(fact, session)
    })
  }

  /** Facts are searched by their words until they have a vector. */
  async function embed(fact: MemoryRecord): Promise<void> {
    await embedFacts([fact], AbortSignal.timeout(embedMs)).catch(onError)
  }

  return {
    embed,

    async store(given: NewFact): Promise<MemoryRecord> {
      const text = storedText(given.text)
      const text_hash = sameTextHash(text)
      const now = given.createdAt ?? new Date()
      const before = await known(given, text_hash, new Date())
      if (before !== undefined) {
        // The process that stored it may have died before it had its vector.
        if (before.embedded_with === undefined) await embed(before)
        return before
      }
      const { id, userId, scope, sourceMessageId, runId, madeBy } = given
      const fact: MemoryRecord = {
        _id: id,
        user_id: userId,
        ...scopeFieldsOf(scope),
        text,
        text_hash,
        ...(sourceMessageId === undefined ? {} : { source_message_id: sourceMessageId }),
        ...(runId === undefined ? {} : { run_id: runId }),
        made_by: madeBy,
        ...expiryOf(scope, now),
        created_at: now,
        updated_at: now,
      }
      try {
        await insert(fact, scope)
      } catch (error) {
        const other = isDuplicateKey(error) ? await known(given, text_hash, new Date()) : undefined
        if (other !== undefined) return other
        throw error
      }
      await embed(fact)
      return fact
    },
  }
}

/** The members of a record that say whose fact it is. */
export function scopeFieldsOf(
  scope: MemoryScope,
): Pick<MemoryRecord, 'scope' | 'project_id' | 'assistant_id' | 'caller'> {
  const key = { scope: scopeKey(scope) }
  switch (scope.kind) {
    case 'user':
      return key
    case 'project':
      return { ...key, project_id: scope.id }
    case 'assistant':
      return { ...key, assistant_id: scope.id }
    case 'caller':
      return { ...key, assistant_id: scope.id, caller: scope.caller }
  }
}

/** Excludes the deletion of those who share the fact. */
export async function lockScope(
  collections: StoreFactDeps['collections'],
  userId: string,
  scope: MemoryScope,
  session: ClientSession,
): Promise<void> {
  // The facts of all callers are counted by their assistant, and all others by their user.
  if (scope.kind !== 'caller') await lockUser(collections, userId, session)
  if (scope.kind === 'project') await lockProject(collections, { projectId: scope.id, userId }, session)
  if (scope.kind === 'assistant' || scope.kind === 'caller')
    await lockAssistant(collections, { assistantId: scope.id, userId }, session)
}

function expiryOf(scope: MemoryScope, now: Date): { expires_at?: Date } {
  return scope.kind === 'caller' ? { expires_at: new Date(now.getTime() + memoryLimits.callerDays * dayMs) } : {}
}

async function requireRoom(
  collections: Pick<Collections, 'memories'>,
  { user_id, scope, assistant_id, caller, run_id }: MemoryRecord,
  session: ClientSession,
): Promise<void> {
  const { savesOfRun, ofUser, ofCaller, ofAllCallers } = memoryLimits
  const isFull = async (filter: object, most: number) => (await factStore(collections).count(filter, session)) >= most
  if (run_id !== undefined && (await isFull({ run_id }, savesOfRun)))
    throw new AppError('forbidden', `One run saves at most ${savesOfRun} facts.`)
  if (caller === undefined) {
    if (await isFull({ user_id, caller: { $exists: false } }, ofUser))
      throw new AppError('forbidden', `An account has at most ${ofUser} facts. Delete one first.`)
    return
  }
  if (await isFull({ scope }, ofCaller))
    throw new AppError('forbidden', `At most ${ofCaller} facts are kept here. Forget one first.`)
  if (await isFull({ assistant_id, caller: { $exists: true } }, ofAllCallers))
    throw new AppError('forbidden', 'The memory of this assistant is full.')
}
