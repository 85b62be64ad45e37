import { threadContract } from '../../domain/contracts/thread.ts'
import type { RunError, RunKey, RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { threadStore } from '../stores/threads.ts'
import type { RunTracing } from '../tracing.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { RunStream } from './run-stream.ts'
import { type Endable, executedRunStore } from './store.ts'

export interface EndRunDeps {
  collections: Pick<Collections, 'runs' | 'threads'>
  stream: Pick<RunStream, 'supersede'>
  tracing: Pick<RunTracing, 'ended'>
  onError(error: unknown): void
}

export interface CancelRunDeps extends EndRunDeps {
  workflows: Pick<WorkflowClient, 'signal'>
}

export const cancelledError: RunError = {
  status_code: 499,
  message: 'The run was cancelled.',
  type: 'cancelled',
  details: '',
}

/** Of a run that Temporal did not take: its caller has been told, or was never answered. */
export const notStartedError: RunError = {
  status_code: 503,
  message: 'The run could not be started.',
  type: 'unavailable',
  details: '',
}

/**
 * Ends an open run, first in the database and then for its readers; null if the run has ended before. The next
 * fence makes sure that attempts that still work on it are refused. With `only` also null if a step of the run has
 * begun, if it does not wait, or (`expiring`) not for its client.
 *
 * The run is still checked by the sweep (`check_at`) until it `isFinalized`: whoever ends it may die before the workflow of
 * its thread is told, which would wait for ever.
 */
export async function endRun(
  { collections, stream, tracing, onError }: EndRunDeps,
  key: RunKey,
  error: RunError,
  { only = 'open', isFinalized = false }: { only?: Endable; isFinalized?: boolean } = {},
): Promise<RunRecord | null> {
  const status = error.type === 'cancelled' ? 'cancelled' : 'error'
  const run = await executedRunStore(collections).end(key, only, { status, error }, { isFinalized })
  if (run === null) return null
  tracing.ended(run)
  if (status === 'error') await threadStore(collections).noteOutcome(run.thread_id, 'error')
  // If this is lost, readers learn of the end from the database, and a worker from its next write or the
  // cancellation of its workflow.
  await stream.supersede(key._id, run.fence, [{ type: 'error', error }]).catch(onError)
  return run
}

/** Cancels an open run and tells its thread. Safe to repeat. */
export async function cancelRun(deps: CancelRunDeps, key: RunKey): Promise<void> {
  await endRun(deps, key, cancelledError)
  await notifyCancelled(deps, key)
}

/** Lets the thread's workflow settle a run that was cancelled; false if it does not run. */
export function notifyCancelled(
  { workflows }: Pick<CancelRunDeps, 'workflows'>,
  { _id: runId, thread_id: threadId }: RunKey,
): Promise<boolean> {
  return workflows.signal(threadContract, { threadId }, 'cancelRun', { runId })
}
