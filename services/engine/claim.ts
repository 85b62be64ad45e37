import type { RunRecord } from '../../domain/records/run.ts'
import type { EngineDeps } from './deps.ts'

/**
 * Takes the next fence of a run that is not over: from then on, nothing that an earlier attempt says
 * or stores counts. Null for a run that is over or gone.
 */
export async function claimRun(
  { collections: { runs } }: Pick<EngineDeps, 'collections'>,
  runId: string,
): Promise<RunRecord | null> {
  const now = new Date()
  const run = await runs
    .findOneAndUpdate(
      { _id: runId, status: { $in: ['pending', 'running'] } },
      [{ $set: { fence: { $add: ['$fence', 1] }, status: 'running', started_at: { $ifNull: ['$started_at', now] } } }],
      { returnDocument: 'after', updatePipeline: true },
    )
    .lean<RunRecord>()
  return run
}
