import type { ClientTurnResult, OnThread, StepInput } from '../../domain/contracts/thread.ts'
import { eventIdOf } from '../../domain/event-ids.ts'
import { runStore } from '../stores/runs.ts'
import { commitResultsAsEnd } from './commit.ts'
import { toolMessages } from './ledger.ts'
import type { StepDeps } from './step-deps.ts'
import { ledgerStore, waitingRunStore } from './store.ts'

/**
 * After the calls of an answer that are executed here have their results: the run waits for the results of those that
 * the client executes, or ends with the answer. Safe to repeat. It publishes the results in the order of the calls:
 * readers have not received those behind a call of the client.
 */
export async function clientTurn(
  deps: StepDeps,
  { threadId, runId, step }: OnThread<StepInput>,
): Promise<ClientTurnResult> {
  const { collections } = deps
  const run = await runStore(collections).findInThread({ _id: runId, thread_id: threadId })
  if (run === null) return { status: 'cancelled' }
  const publish = (entry: { type: 'interrupted' } | { type: 'end' }) =>
    deps.stream.publish(runId, run.fence, [entry]).catch(deps.onError)
  if (run.status !== 'running') {
    // An earlier attempt may have died before it told the readers.
    if (run.status === 'interrupted') await publish({ type: 'interrupted' })
    if (run.status === 'success') await publish({ type: 'end' })
    return { status: run.status }
  }
  const results = await toolMessages(collections, { runId, step, ownOnly: true })
  const published = await deps.stream
    .publish(
      runId,
      run.fence,
      results.map((message) => ({ type: 'message' as const, message })),
    )
    .catch(deps.onError)
  const lastEvent = published ? { last_data_event_id: eventIdOf(published.id, 'data') } : {}
  if (run.overrides.client_calls === 'return') {
    await commitResultsAsEnd(deps, run, step, { results, lastEvent })
    await publish({ type: 'end' })
    return { status: 'success' }
  }
  if (!(await ledgerStore(collections).waitsForClient(runId, step))) return { status: 'running' }
  const { client_calls_expire_seconds: seconds } = run.overrides
  const waiting = {
    ...lastEvent,
    ...(seconds === undefined ? {} : { expires_at: new Date(Date.now() + seconds * 1000) }),
  }
  // Otherwise the run has just ended, and its workflow is told.
  if (await waitingRunStore(collections).interrupt(run, waiting)) await publish({ type: 'interrupted' })
  return { status: 'interrupted' }
}
