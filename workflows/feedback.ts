import { type ActivityOptions, isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow'
import type { createFeedbackActivities } from '../activities/feedback/index.ts'
import type { feedbackContract } from '../domain/contracts/feedback.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'
import { accountWritePolicy } from './account-policies.ts'

/** A tracing service that is away is asked again for three days, ever more rarely; one that refuses is not asked twice. */
const deliveryPolicy: ActivityOptions = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10 minutes' },
}

type Activities = ReturnType<typeof createFeedbackActivities>
const { deliverFeedback } = proxyActivities<Pick<Activities, 'deliverFeedback'>>(deliveryPolicy)
const { giveUpFeedback } = proxyActivities<Pick<Activities, 'giveUpFeedback'>>(accountWritePolicy)

/** Takes one piece of stored feedback to the tracing service, and notes how that ended. */
export const feedbackWorkflow: WorkflowOf<typeof feedbackContract> = async ({ feedbackId }) => {
  setCurrentDetails('The feedback is on its way.')
  try {
    const outcome = await deliverFeedback({ feedbackId })
    setCurrentDetails(`Ended: ${outcome}.`)
    return outcome
  } catch (error) {
    if (isCancellation(error)) throw error
    await giveUpFeedback({ feedbackId })
    setCurrentDetails('Ended: the tracing service did not take it.')
    return 'failed'
  }
}
