import type { Queue } from '../domain/contracts/queues.ts'
import type { ActivityDeps } from './deps.ts'

/** Every activity, by the task queue that serves it. */
export function createActivities(_deps: ActivityDeps) {
  return {
    runs: {},
    documents: {},
    accounts: {},
  } satisfies Record<Queue, object>
}
