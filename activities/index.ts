import { createAccountActivities } from './accounts/index.ts'
import type { Queue } from '../domain/contracts/queues.ts'
import type { ActivityDeps } from './deps.ts'
import { createRunActivities } from './runs/index.ts'
import { createDocumentActivities } from './documents/index.ts'

/** Every activity, by the task queue that serves it. */
export function createActivities(deps: ActivityDeps) {
  return {
    runs: createRunActivities(deps.engine),
    documents: {},
    accounts: createAccountActivities(deps),
  } satisfies Record<Queue, object>
}
