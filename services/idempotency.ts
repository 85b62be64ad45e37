import { createHash } from 'node:crypto'
import { Value } from 'typebox/value'
import { invalidInput } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { parseOwnJson } from '../domain/json.ts'
import type { IdempotencyKeyRecord } from '../domain/records/idempotency-key.ts'
import type { Collections } from './collections.ts'
import {
  type Attempt,
  type Clocks,
  StoredAnswer,
  clocks,
  createAttempt,
  leaseEnd,
  underWay,
} from './idempotency-attempt.ts'
import type { KeyedHashes, SecretBox } from './secrets.ts'
import { idempotencyStore } from './stores/idempotency.ts'

/** How to handle this request with its key. */
type Acquired =
  /** It was answered before: send this answer again. */
  | { answer: StoredAnswer }
  /**
   * Execute it. `earlierIds` is not empty if an earlier attempt may have created something, and `isBegun` says that
   * one did.
   */
  | { id: string; earlierIds: string[]; isBegun: boolean; attempt: Attempt }

interface KeyedRequest {
  /** The caller: keys of different callers are independent. */
  caller: string
  key: string
  /** Identifies the request. */
  request: string[]
  subjects: string[]
}

const keyLifetimeMs = 24 * 60 * 60 * 1000

export type Idempotency = ReturnType<typeof createIdempotency>

/**
 * Makes a request with an `Idempotency-Key` take effect once (IETF draft-ietf-httpapi-idempotency-key-header). One
 * attempt at a time holds the key by a lease. Each attempt gets a new id for what it creates, and the ids of
 * earlier attempts, so that it finds what they created before they died.
 */
export function createIdempotency(
  collections: Pick<Collections, 'idempotencyKeys'>,
  box: SecretBox,
  requestHashes: KeyedHashes,
) {
  const keys = idempotencyStore(collections)

  /** Throws `invalid_input` if the key was used for another request, and `conflict` while an attempt is under way. */
  async function acquire({ caller, key, request, subjects }: KeyedRequest): Promise<Acquired> {
    const id = hash([caller, key])
    const [fingerprint, ...underPreviousKeys] = requestHashes(hash(request))
    const known = new Set([fingerprint, ...underPreviousKeys])
    const takenAt = clocks()
    const reserved = newId()
    const first = { ids: [reserved], lease: newId(), leased_until: leaseEnd() }
    const remove_at = new Date(Date.now() + keyLifetimeMs)
    if (await keys.add({ _id: id, ...first, fingerprint, subjects: [...subjects, reserved], remove_at }))
      return acquiredBy(id, first, takenAt)
    const record = await keys.find(id)
    if (record === null) throw underWay()
    if (!known.has(record.fingerprint))
      throw invalidInput(['header', 'idempotency-key'], 'was used for another request before', 'idempotency_key_reused')
    if (record.outcome === 'answered') return { answer: open(record) }
    if (record.outcome === 'followed') return acquiredBy(id, { ...record, ids: [...record.ids, newId()] }, takenAt)
    if (record.leased_until > new Date()) throw underWay()
    const next = { lease: newId(), leased_until: leaseEnd() }
    // Not if that attempt was only slow, and has renewed its lease just now.
    const taken = await keys.takeOver(record, next, newId())
    if (taken === null) throw underWay()
    return acquiredBy(id, taken, takenAt)
  }

  return {
    acquire,

    /** The ids of what requests of this caller with this key have created, or were about to create. */
    idsOf: ({ caller, key }: Pick<KeyedRequest, 'caller' | 'key'>): Promise<string[]> =>
      keys.idsOf(hash([caller, key])),
  }

  function acquiredBy(
    id: string,
    { ids, lease, outcome }: Pick<IdempotencyKeyRecord, 'ids' | 'lease' | 'outcome'>,
    takenAt: Clocks,
  ): Acquired {
    return {
      id: ids.at(-1) ?? newId(),
      earlierIds: ids.slice(0, -1),
      isBegun: outcome === 'followed',
      attempt: createAttempt({ keys, box }, { id, lease, takenAt }),
    }
  }

  function open({ _id, answer = '' }: IdempotencyKeyRecord): StoredAnswer {
    const stored: unknown = parseOwnJson(box.open(answer, _id))
    if (!Value.Check(StoredAnswer, stored)) throw new Error('the stored answer of an idempotency key cannot be read')
    return stored
  }
}

/** Unambiguous for any parts, because each is preceded by its length. */
function hash(parts: string[]): string {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(`${part.length}:`).update(part)
  return sum.digest('base64url')
}
