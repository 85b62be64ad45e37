/** What a worker registers: every workflow under its own name. */
export { emailVerificationWorkflow } from './email-verification.ts'
export { threadWorkflow } from './thread.ts'
export { passwordResetWorkflow } from './password-reset.ts'
