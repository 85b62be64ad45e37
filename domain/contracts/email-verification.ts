import { defineUpdate } from '@temporalio/workflow'
import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow that verifies an e-mail address. No code and no address travels in any message. */
export const emailVerificationContract = {
  type: workflowType('emailVerificationWorkflow'),
  queue: 'accounts',
  id: ({ userId }) => `email-verification/${userId}`,
  input: (start) => start,
  summary: ({ userId }) => `Verify the e-mail address of user ${userId}`,
  details: () => 'Sends a code by mail and takes up to three attempts at it within 15 minutes.',
  attributes: ({ userId }) => ({ UserId: userId }),
  updates: {
    /** The caller has compared what it was given with the code `code`, and says whether it was right. */
    verify: defineUpdate<VerifyCodeResult, [VerifyCode]>('verify'),
    /** Send a new code, which ends the one before. */
    resend: defineUpdate<ResendCodeResult>('resend'),
  },
} satisfies WorkflowContract<{
  key: { userId: string }
  start: EmailVerificationInput
  input: EmailVerificationInput
  result: EmailVerificationOutcome
}>

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

export type ResendCodeResult =
  | { outcome: 'accepted' }
  | { outcome: 'too_soon'; retryAfterSeconds: number }
  | { outcome: 'verified' }

export const codeValidityMs = 15 * 60 * 1000
export const codeAttempts = 3
export const resendIntervalMs = 60 * 1000
