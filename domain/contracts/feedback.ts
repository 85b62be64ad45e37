import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow that sends one piece of feedback to the tracing service. */
export const feedbackContract = {
  type: workflowType('feedbackWorkflow'),
  queue: 'accounts',
  id: ({ feedbackId }) => `feedback/${feedbackId}`,
  input: ({ feedbackId }) => ({ feedbackId }),
  summary: ({ runId }) => `Feedback on run ${runId}`,
  details: () => 'Sends stored feedback to the tracing service; retries until it succeeds.',
  attributes: ({ userId, runId }) => ({ UserId: userId, AgentRunId: runId }),
} satisfies WorkflowContract<{
  key: { feedbackId: string }
  start: { feedbackId: string; runId: string; userId: string }
  input: FeedbackWorkflowInput
  result: FeedbackOutcome
}>

export interface FeedbackWorkflowInput {
  feedbackId: string
}

export type FeedbackOutcome = 'delivered' | 'failed' | 'gone'
