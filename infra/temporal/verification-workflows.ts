import { type Client, WithStartWorkflowOperation } from '@temporalio/client'
import {
  type EmailVerificationInput,
  type ResendCodeResult,
  type VerifyCode,
  type VerifyCodeResult,
  emailVerificationWorkflowId,
  emailVerificationWorkflowType,
  resendCodeUpdateName,
  verifyCodeUpdateName,
} from '../../domain/contracts/email-verification.ts'
import { queueName } from '../../domain/contracts/queues.ts'
import { searchAttributes } from '../../domain/contracts/search-attributes.ts'
import { workflowTaskTimeout } from '../../domain/contracts/workflow-start.ts'
import type { VerificationWorkflows } from '../../services/accounts/verification-workflows.ts'
import { callTemporal, unlessEnded } from './call-temporal.ts'

export function verificationWorkflows(client: Client, taskQueuePrefix: string): VerificationWorkflows {
  const startOptions = (input: EmailVerificationInput) => ({
    workflowId: emailVerificationWorkflowId(input.userId),
    taskQueue: queueName('accounts', taskQueuePrefix),
    args: [input],
    workflowTaskTimeout,
    staticSummary: `Verify the e-mail address of user ${input.userId}`,
    staticDetails: 'Sends a code by mail and takes up to three attempts at it within 15 minutes.',
    typedSearchAttributes: [{ key: searchAttributes.UserId, value: input.userId }],
  })

  return {
    async startVerification(userId) {
      await callTemporal(client, () =>
        client.workflow.start(emailVerificationWorkflowType, startOptions({ userId, sendAtStart: true })),
      )
    },

    async verifyCode(userId, message) {
      const handle = client.workflow.getHandle(emailVerificationWorkflowId(userId))
      const update = () =>
        handle.executeUpdate<VerifyCodeResult, [VerifyCode]>(verifyCodeUpdateName, { args: [message] })
      return (await unlessEnded(callTemporal(client, update))) ?? { outcome: 'not_running' }
    },

    async resendCode(userId) {
      const startWorkflowOperation = new WithStartWorkflowOperation(emailVerificationWorkflowType, {
        ...startOptions({ userId, sendAtStart: false }),
        workflowIdConflictPolicy: 'USE_EXISTING',
      })
      return await callTemporal(client, () =>
        client.workflow.executeUpdateWithStart<() => Promise<void>, ResendCodeResult, []>(resendCodeUpdateName, {
          startWorkflowOperation,
        }),
      )
    },
  }
}
