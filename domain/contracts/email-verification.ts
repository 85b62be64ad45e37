/** Messages of the `email-verification` workflow. No code and no address travels in any of them. */
export const emailVerificationWorkflowType = 'emailVerificationWorkflow'

export function emailVerificationWorkflowId(userId: string): string {
  return `email-verification/${userId}`
}

export interface EmailVerificationInput {
  userId: string
  /** Whether the first code goes out at once (signup) or is asked for by the `resend` that starts the workflow. */
  sendAtStart: boolean
}

export type EmailVerificationOutcome = 'verified' | 'expired' | 'undeliverable' | 'account_gone'

/** Which code is meant: the workflow run and, from 1, the number of the send within it. */
export interface CodeReference {
  runId: string
  send: number
}

/** Update: the caller compared what it was given with the code of `code` and says whether it was right. */
export const verifyCodeUpdateName = 'verify'
export interface VerifyCode {
  code: CodeReference
  correct: boolean
}
export type VerifyCodeResult =
  /** This attempt verified the address. At most one update of a workflow gets this answer. */
  | { outcome: 'verified' }
  /** An earlier attempt did. */
  | { outcome: 'already_verified' }
  | { outcome: 'wrong'; attemptsRemaining: number }
  /** The third wrong code ended it, or none is out. */
  | { outcome: 'spent' }
  /** Another code counts by now; no attempt was used. */
  | { outcome: 'superseded'; current: CodeReference }

/** Update: send a new code, which ends the one before. */
export const resendCodeUpdateName = 'resend'
export type ResendCodeResult =
  | { outcome: 'accepted' }
  | { outcome: 'too_soon'; retryAfterSeconds: number }
  | { outcome: 'verified' }

export const codeValidityMs = 15 * 60 * 1000
export const codeAttempts = 3
export const resendIntervalMs = 60 * 1000
