import type { DeletionInput, DeletionPhase, StoreCounts } from '../../domain/contracts/deletion.ts'
import type { Deletion } from '../../services/deletion/index.ts'
import { durable } from '../durable.ts'

/** The steps of the `deletion` workflow. Each heartbeats, because a large account takes a while. */
export function createDeletionActivities(deletion: Deletion) {
  return {
    fenceForDeletion: durable((input: DeletionInput) => deletion.mark(input)),
    stopForDeletion: durable((input: DeletionInput) => deletion.stop(input)),
    endPayments: durable((input: DeletionInput) => deletion.endPayments(input)),
    erase: durable(({ input, phase }: { input: DeletionInput; phase: DeletionPhase }) => deletion.erase(input, phase)),
    finishDeletion: durable(({ input, left }: { input: DeletionInput; left: StoreCounts }) =>
      deletion.finish(input, left),
    ),
    failDeletion: durable(({ input, left }: { input: DeletionInput; left: StoreCounts }) => deletion.fail(input, left)),
  }
}
