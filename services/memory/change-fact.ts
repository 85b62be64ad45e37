import { AppError, invalidInput } from '../../domain/errors.ts'
import { type MemoryScope, memorySpaces, scopeKey } from '../../domain/memory/memory-scope.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import { refusingTaken } from '../duplicate-key.ts'
import { deleteVectorsOfFile } from '../knowledge/vector-spaces.ts'
import { scopeOf } from './embed-facts.ts'
import type { EraseFactDeps } from './erase-fact.ts'
import { type NamedOwner, type RequestedScopeDeps, requestedScope } from './requested-scope.ts'
import { sameTextHash, storedText } from './same-text.ts'
import { type StoreFact, type StoreFactDeps, lockScope, scopeFieldsOf } from './store-fact.ts'
import { factStore } from './store.ts'

export interface ChangeFactDeps
  extends Omit<StoreFactDeps, 'embedFacts'>, Pick<EraseFactDeps, 'vectors'>, Pick<RequestedScopeDeps, 'assistants'> {
  storeFact: Pick<StoreFact, 'embed'>
}

export type ChangeFact = ReturnType<typeof createChangeFact>

/** Null removes a member. */
export interface FactChange {
  text?: string
  assistant_id?: string | null
  project_id?: string | null
  source_message_id?: string | null
}

const ids = ['assistant_id', 'project_id'] as const

/**
 * Changes the text of a fact, or whom it is for: then its vector goes to another space. Throws `conflict` if the scope has
 * another fact with this text, `not_found` if the fact is gone, and what `requestedScope` throws.
 */
export function createChangeFact(deps: ChangeFactDeps) {
  const { collections, transaction, vectors, storeFact, onError } = deps

  return async (before: MemoryRecord, change: FactChange): Promise<MemoryRecord> => {
    const scope = ids.some((id) => change[id] !== undefined)
      ? await requestedScope(deps, before.user_id, changedOwner(before, change))
      : scopeOf(before)
    const text = storedText(change.text ?? before.text)
    const isMoved = scopeKey(scope) !== before.scope
    const isEmbedded = !isMoved && text === before.text
    const place = scopeFieldsOf(scope)
    const $set = {
      ...place,
      text,
      text_hash: sameTextHash(text),
      updated_at: new Date(),
      ...(change.source_message_id ? { source_message_id: change.source_message_id } : {}),
    }
    const $unset = {
      ...(isEmbedded ? {} : { embedded_with: 1, refused_by: 1 }),
      ...Object.fromEntries(ids.filter((id) => place[id] === undefined).map((id) => [id, 1])),
      ...(change.source_message_id === null ? { source_message_id: 1 } : {}),
    }
    const after = await write(before, scope, { $set, $unset })
    if (isMoved) await deleteVectorsOfFile(vectors, memorySpaces(scopeOf(before)), before._id).catch(onError)
    if (!isEmbedded) await storeFact.embed(after)
    return after
  }

  async function write(before: MemoryRecord, scope: MemoryScope, update: object): Promise<MemoryRecord> {
    const stored = () =>
      transaction(async (session) => {
        await lockScope(collections, before.user_id, scope, session)
        return present(await factStore(collections).change(before, update, session))
      })
    return refusingTaken(stored, () => new AppError('conflict', 'There is already a fact with this text.'))
  }
}

/** Whom the changed fact is for: an owner that is named replaces the other one. */
function changedOwner(before: MemoryRecord, change: FactChange): NamedOwner {
  if (before.caller !== undefined) throw invalidInput(['body'], 'a fact about a caller stays with this caller')
  const named = ids.filter((id) => typeof change[id] === 'string')
  const remaining = named.length > 0 ? named : ids.filter((id) => change[id] === undefined)
  return Object.fromEntries(
    remaining.flatMap((id) => {
      const value = change[id] ?? before[id]
      return value === undefined ? [] : [[id, value]]
    }),
  )
}

export function present(fact: MemoryRecord | null): MemoryRecord {
  if (fact === null) throw new AppError('not_found', 'There is no such fact.')
  return fact
}
