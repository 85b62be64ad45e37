import { type ActivityOptions, isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow'
import type { createRunActivities } from '../activities/runs/index.ts'
import type { suggestionContract } from '../domain/contracts/suggestion.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'

/** A name that comes after minutes is of no use: few attempts, then the chat keeps its first name. */
const suggestionPolicy: ActivityOptions = {
  startToCloseTimeout: '90s',
  scheduleToCloseTimeout: '5 minutes',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '1s', maximumInterval: '20s', maximumAttempts: 3 },
}

const { suggest } = proxyActivities<Pick<ReturnType<typeof createRunActivities>, 'suggest'>>(suggestionPolicy)

/** Asks the small model about the chat of a run that has ended. */
export const suggestionWorkflow: WorkflowOf<typeof suggestionContract> = async (input) => {
  setCurrentDetails('Asking the small model.')
  try {
    const outcome = await suggest(input)
    setCurrentDetails(`Ended: ${outcome}.`)
    return outcome
  } catch (error) {
    if (isCancellation(error)) throw error
    setCurrentDetails('Ended: the small model did not answer.')
    return 'failed'
  }
}
