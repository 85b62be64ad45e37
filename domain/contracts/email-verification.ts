import { defineUpdate } from '@temporalio/workflow'
import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow that verifies an e-mail address. Its messages contain no code and no address. */
export const emailVerificationContract = {
  type: workflowType('emailVerificationWorkflow'),
  queue: 'accounts',
  id: ({ userId }) => `email-verification/${userId}`,
  input: (start) => start,
  summary: ({ userId }) => `Verify the e-mail address of user ${userId}`,
  details: () => 'Sends a code by mail and takes up to three attempts at it within 15 minutes.',
  attributes: ({ userId }) => ({ UserId: userId }),
  updates: {
    /** The caller has compared the submitted code with the code `code`, and says whether they are equal. */
    verify: defineUpdate<VerifyCodeResult, [VerifyCode]>('verify'),
    /** Send a new code, which invalidates the previous one. */
    resend: defineUpdate<ResendCodeResult>('resend'),
  },
} satisfies WorkflowContract<{
  key: { userId: string }
  start: EmailVerificationInput
  input: EmailVerificationInput
  result: EmailVerificationOutcome
}>

interface EmailVerificationInput {
  userId: string
  /** Whether the first code is sent at once (sign-up), or by the `resend` that starts the workflow. */
  sendAtStart: boolean
}

export type EmailVerificationOutcome = 'verified' | 'expired' | 'undeliverable' | 'account_gone'

/** Identifies a code: the workflow run and the number of the mail within it, from 1. */
export interface CodeReference {
  runId: string
  send: number
}

interface VerifyCode {
  code: CodeReference
  correct: boolean
}
export type VerifyCodeResult =
  /** This attempt verified the address. At most one update of a workflow gets this answer. */
  | { outcome: 'verified' }
  /** An earlier attempt verified the address. */
  | { outcome: 'already_verified' }
  | { outcome: 'wrong'; attemptsRemaining: number }
  /** The third wrong code invalidated it, or no code is valid. */
  | { outcome: 'spent' }
  /** A newer code has replaced it; no attempt was used. */
  | { outcome: 'superseded'; current: CodeReference }

export type ResendCodeResult =
  | { outcome: 'accepted' }
  | { outcome: 'too_soon'; retryAfterSeconds: number }
  | { outcome: 'verified' }

export const codeValidityMs = 15 * 60 * 1000
export const codeAttempts = 3
export const resendIntervalMs = 60 * 1000
