import { createAccountActivities } from './accounts/index.ts'
import type { Queue } from '../domain/contracts/queues.ts'
import { createCleanupActivities } from './cleanup/index.ts'
import { createCrawlActivities } from './crawl/index.ts'
import { createDeletionActivities } from './deletion/index.ts'
import type { ActivityDeps } from './deps.ts'
import { createDocumentActivities } from './documents/index.ts'
import { createFeedbackActivities } from './feedback/index.ts'
import { createRunActivities } from './runs/index.ts'
import { createScheduleActivities } from './schedules/index.ts'

/** Every activity, by the task queue that serves it. */
export function createActivities(deps: ActivityDeps) {
  const documents = createDocumentActivities(deps.documents)
  const crawls = createCrawlActivities(deps.crawls)
  return {
    runs: createRunActivities(deps.steps, deps.suggestions),
    documents,
    accounts: { ...createAccountActivities(deps), ...createFeedbackActivities(deps.feedback) },
    deletions: {
      ...createDeletionActivities(deps.deletion),
      ...createCleanupActivities(deps.cleanup),
      deleteFile: documents.deleteFile,
      deleteSource: crawls.deleteSource,
    },
    schedules: createScheduleActivities(deps.schedules),
    crawls,
  } satisfies Record<Queue, object>
}
