/** Messages of the `password-reset` workflow. Ids only: no token, no password, and no hash of either. */
export const passwordResetWorkflowType = 'passwordResetWorkflow'

export function passwordResetWorkflowId(userId: string): string {
  return `password-reset/${userId}`
}

export interface PasswordResetInput {
  userId: string
}

export type PasswordResetOutcome = 'redeemed' | 'expired' | 'undeliverable' | 'account_gone'

/** Signal, with start: mail a new token; the one before ends at once. */
export const requestResetSignalName = 'request'

/** Update: use the token `tokenId` for the new password that waits under `redemptionId`. */
export const redeemResetUpdateName = 'redeem'
export interface RedeemReset {
  tokenId: string
  redemptionId: string
}
export type RedeemResetResult = { outcome: 'changed' } | { outcome: 'invalid' }

export const resetValidityMs = 60 * 60 * 1000
