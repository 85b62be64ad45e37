import type { DerivedSecrets } from '../services/accounts/derived-secrets.ts'
import type { Collections } from '../services/collections.ts'
import type { Deletion } from '../services/deletion/index.ts'
import type { FeedbackActivityDeps } from './feedback/index.ts'
import type { RunSteps, SuggestionDeps } from './runs/index.ts'
import type { Mailer } from '../services/mailer.ts'
import type { CleanupActivityDeps } from './cleanup/index.ts'
import type { CrawlActivityDeps } from './crawl/index.ts'
import type { DocumentActivityDeps } from './documents/index.ts'
import type { ScheduleActivityDeps } from './schedules/index.ts'

/** Dependencies of the activities; the worker creates them, and tests may replace them. */
export interface ActivityDeps {
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
