import {
  type ActivityOptions,
  ApplicationFailure,
  proxyActivities,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow'
import type { createDeletionActivities } from '../activities/deletion/index.ts'
import { backOffMs } from '../domain/back-off.ts'
import {
  type StoreCounts,
  type deletionContract,
  deletionIncompleteType,
  hasAny,
} from '../domain/contracts/deletion.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'

/**
 * A large account takes minutes; a dead worker is noticed within three seconds. While a store is away, the step is
 * retried, because a deletion that has begun must be completed.
 */
const stepPolicy: ActivityOptions = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
}

type Activities = ReturnType<typeof createDeletionActivities>
const { fenceForDeletion, stopForDeletion, endPayments, erase, finishDeletion, failDeletion } =
  proxyActivities<Activities>(stepPolicy)

const rounds = 6

/**
 * Deletes a thread, an assistant, a project or an account with all its contents: sets the deletion marker, ends open
 * runs and what an account pays, removes the contents and proves by counting that none is left, then the owners, then
 * the root. If something is left, the round is repeated; after the last round the workflow fails, names what is left,
 * and the marker stays set.
 */
export const deletionWorkflow: WorkflowOf<typeof deletionContract> = async (input) => {
  const { receiptId } = input
  setCurrentDetails('Blocking new records.')
  if (!(await fenceForDeletion(input))) {
    setCurrentDetails('There was nothing to delete.')
    return { outcome: 'gone', receiptId }
  }
  let left: StoreCounts = {}
  for (let round = 1; round <= rounds; round++) {
    setCurrentDetails(`Round ${round}: ending open runs.`)
    await stopForDeletion(input)
    if (input.kind === 'account') {
      setCurrentDetails(`Round ${round}: ending subscriptions. While the payment provider is away, nothing is removed.`)
      await endPayments(input)
    }
    setCurrentDetails(`Round ${round}: removing contents.`)
    left = await erase({ input, phase: 'contents' })
    if (!hasAny(left)) {
      setCurrentDetails(`Round ${round}: removing their owners.`)
      left = { ...left, ...(await erase({ input, phase: 'owners' })) }
    }
    if (!hasAny(left)) {
      await finishDeletion({ input, left })
      setCurrentDetails('Done: nothing is left in any store.')
      return { outcome: 'deleted', receiptId }
    }
    setCurrentDetails(`Round ${round} left ${describe(left)}.`)
    if (round < rounds) await sleep(backOffMs(round, { firstMs: 1000 }))
  }
  await failDeletion({ input, left })
  const message = `After ${rounds} rounds there is left: ${describe(left)}.`
  throw ApplicationFailure.create({ message, type: deletionIncompleteType, nonRetryable: true })
}

function describe(counts: StoreCounts): string {
  const rest = Object.entries(counts).filter(([, count]) => count > 0)
  return rest.map(([name, count]) => `${count} ${name}`).join(', ')
}
