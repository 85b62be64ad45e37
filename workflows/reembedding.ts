import {
  ActivityFailure,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'
import type { createDocumentActivities } from '../activities/documents/index.ts'
import { backOffMs } from '../domain/back-off.ts'
import type { reembeddingContract } from '../domain/contracts/reembedding.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'
import { stepPolicy, storePolicy } from './ingestion-policies.ts'
import { keepTrying, reasonForOwner } from './keep-trying.ts'

type Activities = ReturnType<typeof createDocumentActivities>
const { reembedFiles } = proxyActivities<Pick<Activities, 'reembedFiles'>>(stepPolicy)
const { giveUpReembedding } = proxyActivities<Pick<Activities, 'giveUpReembedding'>>(storePolicy)

/** How often a step that fails for an unknown reason is started in total. */
const surprises = 3
/** Pause between two attempts to get a slot. Thousands of assistants may wait for their turn. */
const longestTurnPauseMs = 5 * 60_000

/**
 * Repeats a step of limited duration until all files are embedded and the search uses the new space. The state is in
 * the records: a step continues where the one before stopped, and finds out if it is no longer wanted.
 */
export const reembeddingWorkflow: WorkflowOf<typeof reembeddingContract> = async (input) => {
  const { assistantId, generation, patienceHours } = input
  const onWait = (reason: string | undefined) => setCurrentDetails(reason === undefined ? '' : `It waits: ${reason}`)
  try {
    for (let busy = 0; ;) {
      const result = await keepTrying(() => reembedFiles(input), {
        patienceMs: patienceHours * 3_600_000,
        surprises,
        onWait,
      })
      if (result !== 'busy' && result !== 'more') return result
      busy = result === 'busy' ? busy + 1 : 0
      if (busy > 0) await sleep(backOffMs(busy, { firstMs: 2000, longestMs: longestTurnPauseMs }))
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reembeddingWorkflow>(input)
    }
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error
    await giveUpReembedding({ assistantId, generation, reason: reasonForOwner(error) })
    return 'failed'
  }
}
