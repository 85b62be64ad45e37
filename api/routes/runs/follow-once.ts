import type { FastifyRequest } from 'fastify'
import type { RunRecord } from '../../../domain/records/run.ts'
import type { FollowedRun, RunFeed } from '../../../services/runs/index.ts'
import { type Confirm, belongsTo, once, orNull } from '../../plugins/idempotency.ts'

interface FollowOnce {
  /** Calls `confirm` before the run is stored if it prepares it first. */
  start: (runId: string, confirm: Confirm) => Promise<FollowedRun>
  /** Throws `not_found` for a run that is missing or not the caller's. */
  find: (runId: string) => Promise<RunRecord>
  follow: (run: RunRecord) => Promise<RunFeed>
  /** The key is deleted with the thread. False: it stays for a day, so that a repeated request does not run again. */
  keyEndsWithThread?: boolean
}

/**
 * The run that a request asks for, followed from its start: started now, or by an earlier attempt of the same
 * request.
 */
export async function followOnce(
  request: FastifyRequest,
  { start, find, follow, keyEndsWithThread = true }: FollowOnce,
): Promise<FollowedRun> {
  const followed = await once(request, {
    create: start,
    find: async (id) => {
      const run = await findStarted(find, id)
      return run === null ? null : { run, feed: await follow(run) }
    },
    // Without a feed, which would have to be closed.
    isMade: async (id) => (await findStarted(find, id)) !== null,
  })
  if (keyEndsWithThread) belongsTo(request, followed.run.thread_id)
  return followed
}

/** As `followOnce`, for callers who do not wait for the run. */
export async function startOnce(
  request: FastifyRequest,
  { start, find }: { start: (runId: string, confirm: Confirm) => Promise<RunRecord>; find: FollowOnce['find'] },
): Promise<RunRecord> {
  const run = await once(request, { create: start, find: (id) => findStarted(find, id) })
  belongsTo(request, run.thread_id)
  return run
}

/** A run that could not be passed to its thread was answered with 503: the next attempt starts another. */
async function findStarted(find: FollowOnce['find'], id: string): Promise<RunRecord | null> {
  const run = await orNull(find(id))
  return run?.error?.type === 'unavailable' ? null : run
}
