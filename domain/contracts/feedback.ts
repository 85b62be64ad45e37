/** The `feedback` workflow: takes one piece of feedback to the tracing service. */
export const feedbackWorkflowType = 'feedbackWorkflow'

export function feedbackWorkflowId(feedbackId: string): string {
  return `feedback/${feedbackId}`
}

export interface FeedbackWorkflowInput {
  feedbackId: string
}

export type FeedbackOutcome = 'delivered' | 'failed' | 'gone'
