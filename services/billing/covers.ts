import type { PurchaseRecord } from '../../domain/records/purchase.ts'

type Allowed = Pick<PurchaseRecord, 'thread_max' | 'schedule_max' | 'source_max'>

/** Whether a plan allows at least as much as another, of everything. */
export function covers(plan: Allowed, other: Allowed): boolean {
  return (
    plan.thread_max >= other.thread_max &&
    (plan.schedule_max ?? 0) >= (other.schedule_max ?? 0) &&
    (plan.source_max ?? 0) >= (other.source_max ?? 0)
  )
}
