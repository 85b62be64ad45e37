/** What a worker registers: every workflow under its own name. */
export { cleanupWorkflow } from './cleanup.ts'
export { deletionWorkflow } from './deletion.ts'
export { emailVerificationWorkflow } from './email-verification.ts'
export { ingestionWorkflow } from './ingestion.ts'
export { fileDeletionWorkflow } from './file-deletion.ts'
export { feedbackWorkflow } from './feedback.ts'
export { threadWorkflow } from './thread.ts'
export { passwordResetWorkflow } from './password-reset.ts'
