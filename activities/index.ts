import type { Queue } from '../domain/contracts/workflow-contract.ts'
import type { DerivedSecrets } from '../services/accounts/derived-secrets.ts'
import type { Collections } from '../services/collections.ts'
import type { Deletion } from '../services/deletion/index.ts'
import type { Mailer } from '../services/mailer.ts'
import { createInvitationActivities } from './accounts/invitation.ts'
import { createPasswordResetActivities } from './accounts/password-reset.ts'
import { createVerificationActivities } from './accounts/verification.ts'
import { type CleanupActivityDeps, createCleanupActivities } from './cleanup/index.ts'
import { type CrawlActivityDeps, createCrawlActivities } from './crawl/index.ts'
import { createDeletionActivities } from './deletion/index.ts'
import { type DocumentActivityDeps, createDocumentActivities } from './documents/index.ts'
import { type FeedbackActivityDeps, createFeedbackActivities } from './feedback/index.ts'
import { type RunSteps, type SuggestionDeps, createRunActivities } from './runs/index.ts'
import { type ScheduleActivityDeps, createScheduleActivities } from './schedules/index.ts'

/** Every activity, by the task queue that serves it. */
export function createActivities(deps: ActivityDeps) {
  const documents = createDocumentActivities(deps.documents)
  const crawls = createCrawlActivities(deps.crawls)
  return {
    runs: createRunActivities(deps.steps, deps.suggestions),
    documents,
    accounts: {
      ...createVerificationActivities(deps),
      ...createPasswordResetActivities(deps),
      ...createInvitationActivities(deps),
      ...createFeedbackActivities(deps.feedback),
    },
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

/** Dependencies of the activities; the worker creates them, and tests may replace them. */
interface ActivityDeps {
  collections: Collections
  mailer: Mailer
  secrets: DerivedSecrets
  /** Without a trailing slash. */
  frontendUrl: string
  steps: RunSteps
  suggestions: SuggestionDeps
  feedback: FeedbackActivityDeps
  deletion: Deletion
  cleanup: CleanupActivityDeps
  documents: DocumentActivityDeps
  schedules: ScheduleActivityDeps
  crawls: CrawlActivityDeps
}
