import type { Client } from '@temporalio/client'
import type { AccountWorkflows } from '../../services/accounts/index.ts'
import { passwordResetWorkflows } from './password-reset-workflows.ts'
import { verificationWorkflows } from './verification-workflows.ts'

/** The ways from the account services to their workflows. */
export function accountWorkflows(client: Client, taskQueuePrefix: string): AccountWorkflows {
  return { ...verificationWorkflows(client, taskQueuePrefix), ...passwordResetWorkflows(client, taskQueuePrefix) }
}
