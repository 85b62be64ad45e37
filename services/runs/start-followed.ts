import { newId } from '../../domain/ids.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { RunFeed, RunFeeds } from './run-feeds.ts'
import type { NewRun, StartRun } from './start-run.ts'

/** A run that has just started, and its feed. The receiver must close the feed. */
export interface FollowedRun {
  run: RunRecord
  feed: RunFeed
}

export type StartFollowed = ReturnType<typeof createStartFollowed>

/**
 * Starts a run and follows it from its first event: the feed subscribes while the run is being prepared, and the
 * run is started after that. A failed start leaves no feed open.
 */
export function createStartFollowed({
  runs,
  runFeeds,
}: {
  runs: Pick<StartRun, 'startFollowed'>
  runFeeds: Pick<RunFeeds, 'open'>
}) {
  return async (newRun: NewRun | Promise<NewRun>, runId: string = newId()): Promise<FollowedRun> => {
    const opening = runFeeds.open(runId, { isNew: true })
    try {
      const [prepared, feed] = await Promise.all([newRun, opening])
      return { run: await runs.startFollowed(prepared, runId), feed }
    } catch (error) {
      // The preparation may fail while the feed is being opened.
      opening.then(
        (feed) => feed.close(),
        () => undefined,
      )
      throw error
    }
  }
}
