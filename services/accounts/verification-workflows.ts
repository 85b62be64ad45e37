import type { ResendCodeResult, VerifyCode, VerifyCodeResult } from '../../domain/contracts/email-verification.ts'

/** The way to the `email-verification` workflow of a user. All throw `unavailable` when nobody answers. */
export interface VerificationWorkflows {
  /** Sends the first code. Answers as soon as the wish is durable. */
  startVerification(userId: string): Promise<void>
  verifyCode(userId: string, message: VerifyCode): Promise<VerifyCodeResult | { outcome: 'not_running' }>
  /** Starts the workflow anew when it has ended. */
  resendCode(userId: string): Promise<ResendCodeResult>
}
