import type { RunRecord } from '../../domain/records/run.ts'
import type { NewRun } from './index.ts'
import type { RunFeed, RunFeeds } from './run-feeds.ts'

/** A run that has just started, and the way to follow it. Who gets it closes the feed. */
export interface FollowedRun {
  run: RunRecord
  feed: RunFeed
}

/** Starts a run and follows it from before its first word. A start that fails leaves no feed open. */
export async function startFollowed(
  runFeeds: Pick<RunFeeds, 'open'>,
  start: (beforeStart: NonNullable<NewRun['beforeStart']>) => Promise<RunRecord>,
): Promise<FollowedRun> {
  let opening: Promise<RunFeed> | undefined
  try {
    const run = await start(async ({ _id }) => {
      opening = runFeeds.open(_id, { isNew: true })
      await opening
    })
    if (opening === undefined) throw new Error('a run was started without a reader')
    return { run, feed: await opening }
  } catch (error) {
    // The start may have failed while the feed is still being opened.
    opening?.then(
      (feed) => feed.close(),
      () => undefined,
    )
    throw error
  }
}
