import { setTimeout as sleep } from 'node:timers/promises'
import { backOffMs } from '../../domain/back-off.ts'
import { threadContract } from '../../domain/contracts/thread.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { BudgetCounting } from '../budgets/counting.ts'
import { type Members, inBatches } from '../owned-data/data-store.ts'
import { type CancelRunDeps, cancelRun } from '../runs/index.ts'
import type { RunStream } from '../runs/run-stream.ts'
import { runStore } from '../stores/runs.ts'
import { within } from '../within.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { endedRunStore } from './store.ts'

export interface StopRunsDeps extends CancelRunDeps {
  budgetCounting: Pick<BudgetCounting, 'finalizeStored'>
  stream: Pick<RunStream, 'supersede' | 'forgetThreads'>
  workflows: Pick<WorkflowClient, 'signal' | 'state' | 'terminate'>
}

const graceMs = 15_000
const forgetLimitMs = 2000
const pauses = { firstMs: 100, longestMs: 1000 }
/** Maximum number of concurrent calls to Temporal, however many threads there are. */
const callsAtOnce = 10

/**
 * Ends the runs on the members' threads, and waits until their workflows have ended, so that nothing is written any
 * more. Workflows that have not ended after 15 seconds in total are terminated. `since`: also wait for threads
 * whose runs ended after this time, because an earlier attempt may have ended them.
 *
 * Also ends the runs of the members' assistants on other threads, which stay, and lets every process forget what it
 * holds of the members' threads.
 */
export async function stopRuns(deps: StopRunsDeps, members: Members, since: Date): Promise<void> {
  const busy = new Set<string>()
  const counted: Pick<RunRecord, '_id' | 'thread_id' | 'budgets'>[] = []
  await inBatches(members.threadIds, async (ids) => {
    for (const run of await endedRunStore(deps.collections).listRecent(ids, since)) {
      busy.add(run.thread_id)
      if (run.budgets !== undefined) counted.push(run)
      if (run.finished_at === undefined) await cancelRun(deps, run)
    }
  })
  await inBatches(members.assistantIds, async (ids) => {
    const open = await runStore(deps.collections).listOpenKeys({ assistant_id: { $in: ids } })
    for (const run of open) await cancelRun(deps, run)
  })
  await waitForEnds(deps.workflows, busy)
  // A workflow that was terminated has not counted the cost of its run, and the run's records are deleted next.
  for (const run of counted) await deps.budgetCounting.finalizeStored(run)
  // What is held in memory ends by its own limits when Redis is away: a deletion does not wait for it.
  const forget = inBatches(members.threadIds, (ids) => deps.stream.forgetThreads(ids)).catch(deps.onError)
  await within(forgetLimitMs, forget)
}

async function waitForEnds(workflows: StopRunsDeps['workflows'], threadIds: Set<string>): Promise<void> {
  const end = Date.now() + graceMs
  for (let polls = 1; ; polls++) {
    await someAtOnce(threadIds, async (threadId) => {
      const { status } = await workflows.state(threadContract, { threadId })
      if (status !== 'running') threadIds.delete(threadId)
    })
    if (threadIds.size === 0) return
    if (Date.now() >= end) break
    await sleep(backOffMs(polls, pauses))
  }
  await someAtOnce(threadIds, (threadId) =>
    workflows.terminate(threadContract, { threadId }, 'its thread is being deleted'),
  )
}

/** The callers share one iterator, so that each item is processed once. */
async function someAtOnce(ids: Set<string>, work: (id: string) => Promise<unknown>): Promise<void> {
  const rest = [...ids].values()
  const caller = async () => {
    for (const id of rest) await work(id)
  }
  await Promise.all(Array.from({ length: callsAtOnce }, caller))
}
