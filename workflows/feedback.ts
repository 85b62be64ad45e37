import { type ActivityOptions, isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow'
import type { createFeedbackActivities } from '../activities/feedback/index.ts'
import type { feedbackContract } from '../domain/contracts/feedback.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'
import { accountWritePolicy } from './account-policies.ts'

/**
 * Retried for three days with growing pauses while the tracing service is away; feedback that it refuses is not
 * retried.
 */
const deliveryPolicy: ActivityOptions = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10 minutes' },
}

type Activities = ReturnType<typeof createFeedbackActivities>
const { deliverFeedback } = proxyActivities<Pick<Activities, 'deliverFeedback'>>(deliveryPolicy)
const { giveUpFeedback } = proxyActivities<Pick<Activities, 'giveUpFeedback'>>(accountWritePolicy)

/** Sends stored feedback to the tracing service, and records the result. */
export const feedbackWorkflow: WorkflowOf<typeof feedbackContract> = async ({ feedbackId }) => {
  setCurrentDetails('Sending the feedback.')
  try {
    const outcome = await deliverFeedback({ feedbackId })
    setCurrentDetails(`Ended: ${outcome}.`)
    return outcome
  } catch (error) {
    if (isCancellation(error)) throw error
    await giveUpFeedback({ feedbackId })
    setCurrentDetails('Ended: the tracing service did not accept it.')
    return 'failed'
  }
}
