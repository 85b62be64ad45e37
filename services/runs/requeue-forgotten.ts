import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { refOf } from './index.ts'
import type { ThreadActor } from './thread-actor.ts'

/** A run is handed to its thread within milliseconds of being stored; after this time nobody is about to do it. */
const forgottenAfterMs = 15_000

interface RequeueDeps {
  collections: Pick<Collections, 'runs'>
  actor: Pick<ThreadActor, 'enqueue'>
}

/**
 * Hands over runs that were stored by a process which died before it told their thread. Each run is
 * handed over once more at most: one that only waits for its turn is known to its thread already,
 * and repeating that is harmless. Answers how many there were.
 */
export function createRequeueForgotten({ collections: { runs }, actor }: RequeueDeps) {
  return async (now = Date.now()): Promise<number> => {
    let count = 0
    for (;;) {
      const run = await runs
        .findOneAndUpdate(
          { status: 'pending', requeued: { $ne: true }, created_at: { $lt: new Date(now - forgottenAfterMs) } },
          { $set: { requeued: true } },
          { sort: { created_at: 1 } },
        )
        .lean<RunRecord>()
      if (run === null) return count
      await actor.enqueue(refOf(run), 'enqueue')
      count += 1
    }
  }
}
