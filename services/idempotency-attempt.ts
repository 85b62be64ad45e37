import Type, { type Static } from 'typebox'
import { AnyKey } from '../domain/any-key.ts'
import { AppError } from '../domain/errors.ts'
import type { SecretBox } from './secrets.ts'
import type { idempotencyStore } from './stores/idempotency.ts'

/** A stored answer: status, body as JSON text, and headers. */
export const StoredAnswer = Type.Object({
  status: Type.Integer(),
  body: Type.String(),
  headers: Type.Record(AnyKey, Type.String()),
})
export type StoredAnswer = Static<typeof StoredAnswer>

/** One attempt to execute a request with a key. It holds the key by a lease. */
export interface Attempt {
  /** Renews the lease. False if another attempt has taken over. */
  renew(): Promise<boolean>
  /**
   * Call directly before the effect: renews a lease that is old, because this process may have stood still meanwhile.
   * Throws `conflict` if another attempt has taken over.
   */
  confirm(): Promise<void>
  /** Stores the answer for a day. */
  answer(answer: StoredAnswer, subjects: string[]): Promise<void>
  /** Notes that the run or upload has begun: a repeated request follows it. */
  follow(subjects: string[]): Promise<void>
  /** Nothing was created: the key may be used again. */
  forget(): Promise<void>
  /** Something may have been created: another attempt may take over at once, and looks for it first. */
  giveUp(): Promise<void>
}

/** An attempt that has not renewed its lease for this long is considered dead. */
export const leaseMs = 15_000
/** A lease of this age is renewed before an effect. It is renewed sooner unless the process stood still. */
const oldMs = leaseMs / 2

interface Lease {
  /** Of the key's record. */
  id: string
  lease: string
  takenAt: Clocks
}

export function createAttempt(
  { keys, box }: { keys: ReturnType<typeof idempotencyStore>; box: SecretBox },
  { id, lease, takenAt }: Lease,
): Attempt {
  // A lease that another attempt has taken over matches nothing.
  const own = { _id: id, lease }
  let renewedAt = takenAt

  async function renew(): Promise<boolean> {
    const askedAt = clocks()
    const isRenewed = await keys.renew(own, leaseEnd())
    if (isRenewed) renewedAt = askedAt
    return isRenewed
  }

  return {
    renew,
    async confirm() {
      if (ageMs(renewedAt) > oldMs && !(await renew())) throw underWay()
    },
    async answer(answer, subjects) {
      await keys.end(own, { outcome: 'answered', answer: box.seal(JSON.stringify(answer), id) }, subjects)
    },
    async follow(subjects) {
      await keys.end(own, { outcome: 'followed' }, subjects)
    },
    async forget() {
      await keys.remove(own)
    },
    async giveUp() {
      await keys.renew(own, new Date(0))
    },
  }
}

/** Two clocks: one may be set, the other may stop while the machine sleeps. */
export interface Clocks {
  time: number
  steady: number
}

export const clocks = (): Clocks => ({ time: Date.now(), steady: performance.now() })
const ageMs = ({ time, steady }: Clocks) => Math.max(Date.now() - time, performance.now() - steady)
export const leaseEnd = () => new Date(Date.now() + leaseMs)

export function underWay(): AppError {
  return new AppError('conflict', 'A request with this Idempotency-Key is under way.', { retryAfterSeconds: 1 })
}
