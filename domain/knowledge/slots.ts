/**
 * How many files one worker process works on at once. One user's files never take all of the slots of
 * a kind. What finds no room in the queue asks again later, so that those who wait never take all of
 * the worker's activities either.
 */

const waitingToBeRead = 32

/** For files that are read. With one slot only, users take turns. */
export function readingSlots(filesReadAtOnce: number) {
  return {
    slots: filesReadAtOnce,
    slotsPerOwner: Math.max(1, filesReadAtOnce - 1),
    waiting: waitingToBeRead,
    waitingPerOwner: 2,
  }
}

/** For files that are embedded. */
export const embeddingSlots = { slots: 32, slotsPerOwner: 4, waitingPerOwner: 0 }

/** Activities of the queue `documents`: all of the above, and some for deletions and short steps. */
export function documentActivities(filesReadAtOnce: number): number {
  return filesReadAtOnce + waitingToBeRead + embeddingSlots.slots + 16
}
