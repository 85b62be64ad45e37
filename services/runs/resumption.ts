import { threadContract } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { runStore } from '../stores/runs.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { RunStream } from './run-stream.ts'
import { ledgerStore, waitingRunStore } from './store.ts'

export interface ResumptionDeps {
  collections: Pick<Collections, 'runs' | 'toolCalls'>
  workflows: Pick<WorkflowClient, 'signal'>
  stream: Pick<RunStream, 'publish'>
  onError(error: unknown): void
}

/** A decision takes milliseconds; after this time, the process that was writing one is considered dead. */
export const abandonedAfterMs = 15_000

/** How a run that waits, for people or for its client, continues. */
export function createResumption({ collections, workflows, stream, onError }: ResumptionDeps) {
  const runs = waitingRunStore(collections)
  const ledger = ledgerStore(collections)

  /** If this process dies before the thread has been told, the sweep of runs takes over. */
  async function begin(run: RunRecord): Promise<void> {
    const now = Date.now()
    await runs.beginDecision(run, { deciding_since: new Date(now), check_at: new Date(now + abandonedAfterMs) })
  }

  /** The calls for which a run waits, of either kind, and those that were decided about and wait for the others. */
  const waitingCalls = (run: RunRecord) => ledger.listWaiting(run._id)

  /** Unless a call is still undecided, or waits for the client. Throws `conflict` if the run has ended meanwhile. */
  async function goOn(run: RunRecord): Promise<RunRecord> {
    let current = run
    const step = await toolCallStore(collections).lastStepOf(run._id)
    if (step !== undefined && !(await ledger.hasUndecided(run._id))) {
      const waitedMs = run.waiting_since === undefined ? 0 : Math.max(0, Date.now() - run.waiting_since.getTime())
      const resumed = await runs.resume(run, waitedMs)
      current = resumed ?? (await runStore(collections).findInThread(run)) ?? run
      if (!isOpenRun(current)) throw notWaiting()
      // A reader who joins now waits for what follows; if this entry is lost, the next message shows the same.
      await stream.publish(run._id, current.fence, [{ type: 'resumed' }]).catch(onError)
      const message = { runId: run._id, step }
      await workflows.signal(threadContract, { threadId: run.thread_id }, 'resumeRun', message)
    }
    const waitsForClient = await ledger.waitsForClient(run._id)
    return (await runs.endDecision(run, { waitsForClient })) ?? current
  }

  return { begin, waitingCalls, goOn }
}

export function notWaiting(what: 'a decision' | 'results' = 'a decision'): AppError {
  return new AppError('conflict', `This run does not wait for ${what}.`)
}
