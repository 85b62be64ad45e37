/** What a worker registers: every workflow under its own name. */
export { emailVerificationWorkflow } from './email-verification.ts'
