/**
 * How many files one worker process works on at once. One user's files never occupy all slots of a kind. If the
 * queue is full, the workflow asks again later, so that waiting files do not occupy all of the worker's activities
 * either.
 */

const waitingToBeRead = 32
const waitingScans = 8

/** Two at least, because one is never taken by scans. */
const slotsOf = (filesReadAtOnce: number) => Math.max(2, filesReadAtOnce)

/** For reading files. */
export function readingSlots(filesReadAtOnce: number) {
  const slots = slotsOf(filesReadAtOnce)
  return { slots, slotsPerOwner: slots - 1, waiting: waitingToBeRead, waitingPerOwner: 2 }
}

/** Of these, those in which pictures are read, which takes minutes. */
export function scanSlots(filesReadAtOnce: number) {
  return { slots: slotsOf(filesReadAtOnce) - 1, slotsPerOwner: 1, waiting: waitingScans, waitingPerOwner: 1 }
}

/** For embedding files. */
export const embeddingSlots = { slots: 32, slotsPerOwner: 4, waitingPerOwner: 0 }

/** For embedding files anew: slots of their own, so that a change of the model does not delay uploads. */
export const reembeddingSlots = { slots: 8, slotsPerOwner: 1, waitingPerOwner: 0 }

/** For crawls of sources: most of the time they wait for a site. One user's crawls leave slots to others. */
export const crawlSlots = { slots: 12, slotsPerOwner: 2, waiting: 12, waitingPerOwner: 1 }

/** Concurrent activities of the queue `crawls`: all of the above, and short steps. */
export const crawlActivities = 40

/** Concurrent activities of the queue `documents`: all of the above, and some for deletions and short steps. */
export function documentActivities(filesReadAtOnce: number): number {
  return slotsOf(filesReadAtOnce) + waitingToBeRead + waitingScans + embeddingSlots.slots + reembeddingSlots.slots + 16
}
