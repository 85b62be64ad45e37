import { defineSignal, defineUpdate } from '@temporalio/workflow'
import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow of a user's password resets. Ids only: no token, no password, and no hash of either. */
export const passwordResetContract = {
  type: workflowType('passwordResetWorkflow'),
  queue: 'accounts',
  id: ({ userId }) => `password-reset/${userId}`,
  input: (start) => start,
  summary: ({ userId }) => `Reset the password of user ${userId}`,
  details: () => 'Sends a link that works once within an hour; a new request invalidates the previous link.',
  attributes: ({ userId }) => ({ UserId: userId }),
  signals: {
    /** Mail a new token; the previous one becomes invalid at once. */
    request: defineSignal('request'),
  },
  updates: {
    /** Use the token `tokenId` to set the new password that is stored under `redemptionId`. */
    redeem: defineUpdate<RedeemResetResult, [RedeemReset]>('redeem'),
  },
} satisfies WorkflowContract<{
  key: { userId: string }
  start: PasswordResetInput
  input: PasswordResetInput
  result: PasswordResetOutcome
}>

interface PasswordResetInput {
  userId: string
}

export type PasswordResetOutcome = 'redeemed' | 'expired' | 'undeliverable' | 'account_gone'

interface RedeemReset {
  tokenId: string
  redemptionId: string
}
export type RedeemResetResult = { outcome: 'changed' } | { outcome: 'invalid' }

export const resetValidityMs = 60 * 60 * 1000
