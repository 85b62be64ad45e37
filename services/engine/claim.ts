import type { StepInput } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import type { Message } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ModelUsage, RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { EngineDeps } from './deps.ts'

export interface Claim {
  run: RunRecord
  /** No attempt has stored anything of the step. */
  isFresh: boolean
  /** What this process read a moment ago: for the request that stored the run, or for its step before. */
  known?: {
    assistant: AssistantRecord
    thread: ThreadRecord | undefined
    usages: ModelUsage[] | undefined
    /** The results of all calls before the step. */
    results?: Message[] | undefined
  }
}

/**
 * The run that a step works on: handed over by the request that stored it, or by its step before in this process, or
 * claimed. Null if it has ended or is gone.
 */
export async function takeRun(deps: EngineDeps, { runId, step }: StepInput): Promise<Claim | null> {
  const first = step === 0 ? deps.firstAttempts.take(runId) : undefined
  if (first !== undefined) {
    const { run, ...known } = first
    return { run: { ...run, started_at: new Date() }, isFresh: true, known: { ...known, usages: [] } }
  }
  const paused = step === 0 ? undefined : deps.attempts.resume(runId, step)
  if (paused !== undefined) {
    const results = paused.results?.every((result) => result !== undefined) ? paused.results : undefined
    return { run: paused.run, isFresh: true, known: { ...paused, results } }
  }
  return claimRun(deps, runId)
}

/**
 * Takes the next fence of an open run: from then on, everything that earlier attempts publish or store is refused.
 * Null if the run has ended or is gone.
 */
async function claimRun(
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
  if (before.fence - (before.step_fence ?? 0) >= maxAttemptsOfStep)
    throw new AppError('internal', 'The run was attempted too often without a result.')
  const run = { ...before, fence: before.fence + 1, status: 'running' as const, started_at: before.started_at ?? now }
  return { run, isFresh: before.status === 'pending' }
}

/**
 * The workflow makes eight attempts itself; the rest is for workers that died. Their attempts are in no history, so
 * that only the fence shows that a run kills each worker that takes it.
 */
const maxAttemptsOfStep = 16

/** A run that was not claimed is marked as running after this time. */
const showRunningAfterMs = 500

/**
 * Marks a run that was not claimed as running when it is confirmed and has taken a while. This is for display only, so
 * nobody waits for it. The returned function stops the timer.
 */
export function showAsRunning(
  { collections: { runs }, onError }: EngineDeps,
  run: RunRecord,
  confirmed: Promise<void> = Promise.resolve(),
): () => Promise<void> {
  let writing: Promise<unknown> = Promise.resolve()
  const show = () =>
    runs
      .updateOne(
        { _id: run._id, fence: run.fence, status: 'pending' },
        { $set: { status: 'running', started_at: run.started_at } },
        { writeConcern: { w: 1, journal: false } },
      )
      .then(() => undefined, onError)
  const timer = setTimeout(() => {
    writing = confirmed.then(show, () => undefined)
  }, showRunningAfterMs)
  return async () => {
    clearTimeout(timer)
    await writing
  }
}
