import type { StepInput } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { StepDeps } from './step-deps.ts'
import type { LiveRun } from './live-run.ts'

/**
 * The workflow makes eight attempts itself; the rest is for workers that died. Their attempts are in no history, so
 * that only the fence shows that a run kills each worker that takes it.
 */
const maxAttemptsOfStep = 16

/**
 * Takes the next fence of an open run: from then on, everything that earlier attempts publish or store is refused.
 * Null if the run has ended or is gone.
 */
export async function claimRun(
  { collections: { runs }, liveRuns }: Pick<StepDeps, 'collections' | 'liveRuns'>,
  { runId, step }: StepInput,
): Promise<LiveRun | null> {
  const now = new Date()
  const before = await runs
    .findOneAndUpdate(
      { _id: runId, status: { $in: ['pending', 'running'] } },
      [{ $set: { fence: { $add: ['$fence', 1] }, status: 'running', started_at: { $ifNull: ['$started_at', now] } } }],
      { returnDocument: 'before', updatePipeline: true },
    )
    .lean<RunRecord>()
  if (before === null) return null
  if (before.fence - (before.step_fence ?? 0) >= maxAttemptsOfStep)
    throw new AppError('internal', 'The run was attempted too often without a result.')
  const run = { ...before, fence: before.fence + 1, status: 'running' as const, started_at: before.started_at ?? now }
  return liveRuns.claimed(run, { step, isFresh: before.status === 'pending' })
}
