// Before a change: docs/traps.md, Libraries.
import type { Model } from 'mongoose'
import type { StoredAssistant } from '../domain/records/assistant.ts'
import type { BudgetRecord } from '../domain/records/budget.ts'
import type { DeclaredName, DeclaredRecords } from '../domain/records/declared-records.ts'
import type { IdempotencyKeyRecord } from '../domain/records/idempotency-key.ts'
import type { LoginFailuresRecord } from '../domain/records/login-failures.ts'
import type { ModelSettingsRecord } from '../domain/records/model-settings.ts'
import type { BillingEventRecord, PurchaseRecord } from '../domain/records/purchase.ts'
import type { ProgramLoginRecord } from '../domain/records/program-login.ts'
import type { ProjectRecord } from '../domain/records/project.ts'
import type { ReceiptRecord } from '../domain/records/receipt.ts'
import type { EvaluationRecord } from '../domain/records/evaluation.ts'
import type { RunRecord } from '../domain/records/run.ts'
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
  assistants: Model<StoredAssistant>
  threads: Model<ThreadRecord>
  checkpoints: Model<CheckpointRecord>
  runs: Model<RunRecord>
  toolCalls: Model<ToolCallRecord>
  loginFailures: Model<LoginFailuresRecord>
  programLogins: Model<ProgramLoginRecord>
  evaluations: Model<EvaluationRecord>
  receipts: Model<ReceiptRecord>
  idempotencyKeys: Model<IdempotencyKeyRecord>
  purchases: Model<PurchaseRecord>
  budgets: Model<BudgetRecord>
  billingEvents: Model<BillingEventRecord>
  modelSettings: Model<ModelSettingsRecord>
}
