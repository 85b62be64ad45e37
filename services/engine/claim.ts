import type { RunRecord } from '../../domain/records/run.ts'
import type { EngineDeps } from './deps.ts'

export interface Claim {
  run: RunRecord
  /** No attempt has stored anything of the run. */
  isFresh: boolean
}

/**
 * Takes the next fence of a run that is not over: from then on, nothing that an earlier attempt says
 * or stores counts. Null for a run that is over or gone.
 */
export async function claimRun(
  { collections: { runs } }: Pick<EngineDeps, 'collections'>,
  runId: string,
): Promise<Claim | null> {
  const now = new Date()
  const before = await runs
    .findOneAndUpdate(
      { _id: runId, status: { $in: ['pending', 'running'] } },
      [{ $set: { fence: { $add: ['$fence', 1] }, status: 'running', started_at: { $ifNull: ['$started_at', now] } } }],
      { returnDocument: 'before', updatePipeline: true },
    )
    .lean<RunRecord>()
  if (before === null) return null
  const run = { ...before, fence: before.fence + 1, status: 'running' as const, started_at: before.started_at ?? now }
  return { run, isFresh: before.status === 'pending' }
}
