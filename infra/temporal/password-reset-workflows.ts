import type { Client } from '@temporalio/client'
import {
  type PasswordResetInput,
  type RedeemReset,
  type RedeemResetResult,
  passwordResetWorkflowId,
  passwordResetWorkflowType,
  redeemResetUpdateName,
  requestResetSignalName,
} from '../../domain/contracts/password-reset.ts'
import { queueName } from '../../domain/contracts/queues.ts'
import { searchAttributes } from '../../domain/contracts/search-attributes.ts'
import { workflowTaskTimeout } from '../../domain/contracts/workflow-start.ts'
import type { PasswordResetWorkflows } from '../../services/accounts/password-reset.ts'
import { callTemporal, unlessEnded } from './call-temporal.ts'

export function passwordResetWorkflows(client: Client, taskQueuePrefix: string): PasswordResetWorkflows {
  return {
    async requestReset(userId) {
      const input: PasswordResetInput = { userId }
      await callTemporal(client, () =>
        client.workflow.signalWithStart(passwordResetWorkflowType, {
          workflowId: passwordResetWorkflowId(userId),
          taskQueue: queueName('accounts', taskQueuePrefix),
          args: [input],
          signal: requestResetSignalName,
          signalArgs: [],
          workflowTaskTimeout,
          staticSummary: `Reset the password of user ${userId}`,
          staticDetails: 'Sends a link by mail that works once within an hour; a new request ends the link before.',
          typedSearchAttributes: [{ key: searchAttributes.UserId, value: userId }],
        }),
      )
    },

    async redeemReset(userId, message) {
      const handle = client.workflow.getHandle(passwordResetWorkflowId(userId))
      const update = () =>
        handle.executeUpdate<RedeemResetResult, [RedeemReset]>(redeemResetUpdateName, { args: [message] })
      return (await unlessEnded(callTemporal(client, update))) ?? { outcome: 'invalid' }
    },
  }
}
