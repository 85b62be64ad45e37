import type { Client } from '@temporalio/client'
import {
  type FeedbackWorkflowInput,
  feedbackWorkflowId,
  feedbackWorkflowType,
} from '../../domain/contracts/feedback.ts'
import { queueName } from '../../domain/contracts/queues.ts'
import { searchAttributes } from '../../domain/contracts/search-attributes.ts'
import { workflowTaskTimeout } from '../../domain/contracts/workflow-start.ts'
import type { FeedbackWorkflows } from '../../services/feedback/index.ts'
import { callTemporal } from './call-temporal.ts'

export function feedbackWorkflows(client: Client, taskQueuePrefix: string): FeedbackWorkflows {
  return {
    async deliver({ feedbackId, runId, userId }) {
      const input: FeedbackWorkflowInput = { feedbackId }
      await callTemporal(client, () =>
        client.workflow.start(feedbackWorkflowType, {
          workflowId: feedbackWorkflowId(feedbackId),
          taskQueue: queueName('accounts', taskQueuePrefix),
          args: [input],
          workflowTaskTimeout,
          staticSummary: `Feedback on run ${runId}`,
          staticDetails: 'Takes stored feedback to the tracing service, for as long as that takes.',
          typedSearchAttributes: [
            { key: searchAttributes.UserId, value: userId },
            { key: searchAttributes.AgentRunId, value: runId },
          ],
        }),
      )
    },
  }
}
