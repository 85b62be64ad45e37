// Before a change: docs/traps.md, Libraries.
import type { Model } from 'mongoose'
import type { AttachmentRecord } from '../domain/records/attachment.ts'
import type { AuditEntryRecord } from '../domain/records/audit-entry.ts'
import type { AssistantRecord } from '../domain/records/assistant.ts'
import type { BudgetRecord } from '../domain/records/budget.ts'
import type { DeclaredName, DeclaredRecords } from '../domain/records/declared-records.ts'
import type { FeedbackRecord } from '../domain/records/feedback.ts'
import type { IdempotencyKeyRecord } from '../domain/records/idempotency-key.ts'
import type { LoginFailuresRecord } from '../domain/records/login-failures.ts'
import type { ModelSettingsRecord } from '../domain/records/model-settings.ts'
import type { PasswordResetRecord, PendingPasswordRecord } from '../domain/records/password-reset.ts'
import type { BillingEventRecord, PurchaseRecord } from '../domain/records/purchase.ts'
import type { ProgramLoginRecord } from '../domain/records/program-login.ts'
import type { ProjectRecord } from '../domain/records/project.ts'
import type { ReceiptRecord } from '../domain/records/receipt.ts'
import type { EvaluationRecord } from '../domain/records/evaluation.ts'
import type { RunRecord } from '../domain/records/run.ts'
import type { ScheduleRecord, ScheduleRunRecord } from '../domain/records/schedule.ts'
import type { ShareRecord } from '../domain/records/share.ts'
import type { SourcePageRecord, SourceRecord } from '../domain/records/source.ts'
import type { CheckpointRecord, ThreadRecord } from '../domain/records/thread.ts'
import type { ToolCallRecord } from '../domain/records/tool-call.ts'
import type { UserRecord } from '../domain/records/user.ts'
import type { KnowledgeCollections } from './knowledge/collections.ts'

/** Those whose records are declared. */
export type DeclaredCollections = { [K in DeclaredName]: Model<DeclaredRecords[K]> }

/** The database collections that services use. `infra/mongo` creates them. */
export interface Collections extends KnowledgeCollections, DeclaredCollections {
  users: Model<UserRecord>
  projects: Model<ProjectRecord>
  assistants: Model<AssistantRecord>
  threads: Model<ThreadRecord>
  checkpoints: Model<CheckpointRecord>
  shares: Model<ShareRecord>
  runs: Model<RunRecord>
  toolCalls: Model<ToolCallRecord>
  feedback: Model<FeedbackRecord>
  attachments: Model<AttachmentRecord>
  loginFailures: Model<LoginFailuresRecord>
  passwordResets: Model<PasswordResetRecord>
  pendingPasswords: Model<PendingPasswordRecord>
  programLogins: Model<ProgramLoginRecord>
  evaluations: Model<EvaluationRecord>
  receipts: Model<ReceiptRecord>
  idempotencyKeys: Model<IdempotencyKeyRecord>
  purchases: Model<PurchaseRecord>
  auditEntries: Model<AuditEntryRecord>
  budgets: Model<BudgetRecord>
  billingEvents: Model<BillingEventRecord>
  schedules: Model<ScheduleRecord>
  scheduleRuns: Model<ScheduleRunRecord>
  sources: Model<SourceRecord>
  sourcePages: Model<SourcePageRecord>
  modelSettings: Model<ModelSettingsRecord>
}
