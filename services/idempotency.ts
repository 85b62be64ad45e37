import { createHash } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { AnyKey } from '../domain/any-key.ts'
import { AppError, invalidInput } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { IdempotencyKeyRecord } from '../domain/records/idempotency-key.ts'
import type { Collections } from './collections.ts'
import { isDuplicateKey } from './duplicate-key.ts'
import type { SecretBox } from './secrets.ts'

/** A stored answer: status, body as JSON text, and headers. */
const StoredAnswer = Type.Object({
  status: Type.Integer(),
  body: Type.String(),
  headers: Type.Record(AnyKey, Type.String()),
})
export type StoredAnswer = Static<typeof StoredAnswer>

/** How to handle this request with its key. */
export type Acquired =
  /** It was answered before: send this answer again. */
  | { answer: StoredAnswer }
  /**
   * Execute it. `earlierIds` is not empty if an earlier attempt may have created something, and `isBegun` says that
   * one did.
   */
  | { id: string; earlierIds: string[]; isBegun: boolean; attempt: Attempt }

/** The lease of a request. */
export interface Attempt {
  /** Renews the lease. */
  renew(): Promise<void>
  /** Stores the answer for a day. */
  answer(answer: StoredAnswer, subjects: string[]): Promise<void>
  /** Notes that the run or upload has begun: a repeated request follows it. */
  follow(subjects: string[]): Promise<void>
  /** Nothing was created: the key may be used again. */
  forget(): Promise<void>
  /** Something may have been created: another attempt may take over at once, and looks for it first. */
  giveUp(): Promise<void>
}

export interface KeyedRequest {
  /** The caller: keys of different callers are independent. */
  caller: string
  key: string
  /** Identifies the request. */
  request: string[]
  subjects: string[]
}

export const keyLifetimeMs = 24 * 60 * 60 * 1000
/** An attempt that has not renewed its lease for this long is considered dead. */
export const leaseMs = 15_000

export type Idempotency = ReturnType<typeof createIdempotency>

/**
 * Makes a request with an `Idempotency-Key` take effect once (IETF draft-ietf-httpapi-idempotency-key-header). One
 * attempt at a time holds the key by a lease. Each attempt gets a new id for what it creates, and the ids of
 * earlier attempts, so that it finds what they created before they died.
 */
export function createIdempotency({ idempotencyKeys: keys }: Pick<Collections, 'idempotencyKeys'>, box: SecretBox) {
  /** Throws `invalid_input` if the key was used for another request, and `conflict` while an attempt is under way. */
  async function acquire({ caller, key, request, subjects }: KeyedRequest): Promise<Acquired> {
    const id = hash([caller, key])
    const fingerprint = hash(request)
    const reserved = newId()
    const first = { ids: [reserved], lease: newId(), leased_until: leaseEnd() }
    try {
      const remove_at = new Date(Date.now() + keyLifetimeMs)
      const known = { fingerprint, subjects: [...subjects, reserved], remove_at }
      await keys.insertMany([{ _id: id, ...first, ...known }], { lean: true })
      return acquiredBy(id, first)
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
    }
    const known = await keys.findById(id).lean<IdempotencyKeyRecord>()
    if (known === null) throw underWay()
    if (known.fingerprint !== fingerprint)
      throw invalidInput(['header', 'idempotency-key'], 'was used for another request before', 'idempotency_key_reused')
    if (known.outcome === 'answered') return { answer: open(known) }
    if (known.outcome === 'followed') return acquiredBy(id, { ...known, ids: [...known.ids, newId()] })
    if (known.leased_until > new Date()) throw underWay()
    const next = { lease: newId(), leased_until: leaseEnd() }
    const another = newId()
    const taken = await keys
      .findOneAndUpdate(
        { _id: id, lease: known.lease },
        { $set: next, $push: { ids: another, subjects: another } },
        { returnDocument: 'after' },
      )
      .lean<IdempotencyKeyRecord>()
    if (taken === null) throw underWay()
    return acquiredBy(id, taken)
  }

  return { acquire }

  function acquiredBy(
    id: string,
    { ids, lease, outcome }: Pick<IdempotencyKeyRecord, 'ids' | 'lease' | 'outcome'>,
  ): Acquired {
    const own = { _id: id, lease }
    const end = (set: Partial<IdempotencyKeyRecord>, subjects: string[]) =>
      keys.updateOne(own, { $set: set, $addToSet: { subjects: { $each: subjects } } })
    return {
      id: ids.at(-1) ?? newId(),
      earlierIds: ids.slice(0, -1),
      isBegun: outcome === 'followed',
      attempt: {
        async renew() {
          await keys.updateOne(own, { $set: { leased_until: leaseEnd() } })
        },
        async answer(answer, subjects) {
          await end({ outcome: 'answered', answer: box.seal(JSON.stringify(answer), id) }, subjects)
        },
        async follow(subjects) {
          await end({ outcome: 'followed' }, subjects)
        },
        async forget() {
          await keys.deleteOne(own)
        },
        async giveUp() {
          await keys.updateOne(own, { $set: { leased_until: new Date(0) } })
        },
      },
    }
  }

  function open({ _id, answer = '' }: IdempotencyKeyRecord): StoredAnswer {
    const stored: unknown = JSON.parse(box.open(answer, _id))
    if (!Value.Check(StoredAnswer, stored)) throw new Error('the stored answer of an idempotency key cannot be read')
    return stored
  }
}

const leaseEnd = () => new Date(Date.now() + leaseMs)

/** Unambiguous for any parts, because each is preceded by its length. */
function hash(parts: string[]): string {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(`${part.length}:`).update(part)
  return sum.digest('base64url')
}

function underWay(): AppError {
  return new AppError('conflict', 'A request with this Idempotency-Key is under way.', { retryAfterSeconds: 1 })
}
