import { heartbeat } from '@temporalio/activity'
import type { DeletionInput, DeletionPhase, StoreCounts } from '../../domain/contracts/deletion.ts'
import type { Deletion } from '../../services/deletion/index.ts'
import { translateErrors } from '../translate-errors.ts'

const heartbeatMs = 1000

/** The steps of the `deletion` workflow. Each tells that it lives, for a large account takes a while. */
export function createDeletionActivities(deletion: Deletion) {
  return {
    fenceForDeletion: alive((input: DeletionInput) => deletion.fence(input)),
    stopForDeletion: alive((input: DeletionInput) => deletion.stop(input)),
    erase: alive(({ input, phase }: { input: DeletionInput; phase: DeletionPhase }) => deletion.erase(input, phase)),
    finishDeletion: alive(({ input, left }: { input: DeletionInput; left: StoreCounts }) =>
      deletion.finish(input, left),
    ),
    failDeletion: alive(({ input, left }: { input: DeletionInput; left: StoreCounts }) => deletion.fail(input, left)),
  }
}

function alive<Input, Output>(activity: (input: Input) => Promise<Output>): (input: Input) => Promise<Output> {
  return translateErrors(async (input: Input) => {
    const timer = setInterval(() => heartbeat(), heartbeatMs)
    try {
      return await activity(input)
    } finally {
      clearInterval(timer)
    }
  })
}
