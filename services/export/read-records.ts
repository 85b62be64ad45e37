import type { Model } from 'mongoose'
import { logStore } from '../stores/log.ts'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'

const recordsAtOnce = 200
/** Messages are up to two megabytes each. */
export const largeRecordsAtOnce = 8

/** `Found`: what the filter selects. Page by page in the order of ids, so that no cursor stays open while a client reads slowly. */
export async function* records<T extends { _id: string }, Found extends T = T>(
  collection: Model<T>,
  filter: object,
  atOnce = recordsAtOnce,
  projection: object = {},
): AsyncGenerator<Found> {
  const pages = pagesById(atOnce, (after: After<string>, limit) =>
    collection
      .find({ ...filter, ...after }, projection)
      .sort({ _id: 1 })
      .limit(limit)
      .lean<Found[]>(),
  )
  for await (const page of pages) yield* page
}

/**
 * The log of a thread in the order of its numbers. The ids do not tell the order: the input of a run has the id of the
 * run, which was made before the run waited for its turn.
 */
export async function* entriesOf(
  checkpoints: Collections['checkpoints'],
  threadId: string,
): AsyncGenerator<CheckpointRecord, undefined> {
  for (let last = 0; ;) {
    const page = await logStore({ checkpoints }).listSince(threadId, last, largeRecordsAtOnce)
    yield* page
    if (page.length < largeRecordsAtOnce) return
    last = page.at(-1)?.seq ?? last
  }
}
