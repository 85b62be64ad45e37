import type { Static } from 'typebox'
import { assistantRecord } from './assistant.ts'
import { attachmentRecord } from './attachment.ts'
import { auditEntryRecord } from './audit-entry.ts'
import { budgetRecord } from './budget.ts'
import { chunkGroupRecord } from './chunk-group.ts'
import type { ArchiveLine, RecordOf } from './declared-record.ts'
import { documentRecord } from './document.ts'
import { evaluationRecord } from './evaluation.ts'
import { feedbackRecord } from './feedback.ts'
import { fileBatchRecord } from './file-batch.ts'
import { fileRecord } from './file.ts'
import { folderRecord } from './folder.ts'
import { groupRecord } from './group.ts'
import { idempotencyKeyRecord } from './idempotency-key.ts'
import { loginFailuresRecord } from './login-failures.ts'
import { memoryRecord } from './memory.ts'
import { modelSettingsRecord } from './model-settings.ts'
import { passwordResetRecord, pendingPasswordRecord } from './password-reset.ts'
import { programLoginRecord } from './program-login.ts'
import { projectRecord } from './project.ts'
import { promptRecord } from './prompt.ts'
import { billingEventRecord, purchaseRecord } from './purchase.ts'
import { receiptRecord } from './receipt.ts'
import { runRecord } from './run.ts'
import { scheduleRecord, scheduleRunRecord } from './schedule.ts'
import { shareRecord } from './share.ts'
import { sourcePageRecord, sourceRecord } from './source.ts'
import { checkpointRecord, threadRecord } from './thread.ts'
import { toolCallRecord } from './tool-call.ts'
import { usedTokenRecord } from './used-token.ts'
import { userRecord } from './user.ts'

/** The kinds of records that are declared, by the names that code has for their collections. */
export const declaredRecords = {
  prompts: promptRecord,
  memories: memoryRecord,
  documents: documentRecord,
  folders: folderRecord,
  groups: groupRecord,
  usedTokens: usedTokenRecord,
  schedules: scheduleRecord,
  scheduleRuns: scheduleRunRecord,
  sources: sourceRecord,
  sourcePages: sourcePageRecord,
  shares: shareRecord,
  feedback: feedbackRecord,
  attachments: attachmentRecord,
  fileBatches: fileBatchRecord,
  auditEntries: auditEntryRecord,
  passwordResets: passwordResetRecord,
  pendingPasswords: pendingPasswordRecord,
  loginFailures: loginFailuresRecord,
  programLogins: programLoginRecord,
  evaluations: evaluationRecord,
  receipts: receiptRecord,
  idempotencyKeys: idempotencyKeyRecord,
  purchases: purchaseRecord,
  budgets: budgetRecord,
  billingEvents: billingEventRecord,
  modelSettings: modelSettingsRecord,
  files: fileRecord,
  chunks: chunkGroupRecord,
  toolCalls: toolCallRecord,
  checkpoints: checkpointRecord,
  threads: threadRecord,
  projects: projectRecord,
  assistants: assistantRecord,
  users: userRecord,
  runs: runRecord,
} as const

type Declared = typeof declaredRecords
export type DeclaredName = keyof Declared
export type DeclaredRecords = { [K in DeclaredName]: RecordOf<Declared[K]> }

/** Those that archives of users have. */
export type ArchivedName = { [K in DeclaredName]: Declared[K]['archive'] extends ArchiveLine ? K : never }[DeclaredName]
export type ArchivedRecords = { [K in ArchivedName]: Static<Declared[K]['archive']['schema']> }

/** In the order in which an archive has them. */
export const archivedNames = [
  'sources',
  'prompts',
  'memories',
  'documents',
  'folders',
] as const satisfies ArchivedName[]

/** Those that imports store by what a capability declares; the line of a schedule is not as its record. */
export type RestoredKind = 'schedules' | ArchivedName
