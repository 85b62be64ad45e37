import { threadContract } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import { type RunRecord, isOpenRun, runKey } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { Collections } from '../collections.ts'
import type { RunStream } from './run-stream.ts'

export interface ResumptionDeps {
  collections: Pick<Collections, 'runs' | 'toolCalls'>
  workflows: Pick<WorkflowClient, 'signal'>
  stream: Pick<RunStream, 'publish'>
  onError(error: unknown): void
}

/** A decision takes milliseconds; after this time, the process that was writing one is considered dead. */
export const abandonedAfterMs = 15_000

/** A call for which its run waits. */
export const undecided = { status: 'waiting' as const, decision: { $exists: false } }

/** How a run that waits, for people or for its client, continues. */
export function createResumption({ collections, workflows, stream, onError }: ResumptionDeps) {
  const { runs, toolCalls } = collections

  /** If this process dies before the thread has been told, the sweep of runs takes over. */
  async function begin(run: RunRecord): Promise<void> {
    const now = Date.now()
    await runs.updateOne(
      { ...runKey(run), status: 'interrupted' },
      { $set: { deciding_since: new Date(now), check_at: new Date(now + abandonedAfterMs) } },
    )
  }

  /** The calls for which a run waits, of either kind, and those that were decided about and wait for the others. */
  function waitingCalls(run: RunRecord): Promise<ToolCallRecord[]> {
    return toolCalls.find({ run_id: run._id, status: 'waiting' }).sort({ index: 1 }).lean<ToolCallRecord[]>()
  }

  /** Unless a call is still undecided, or waits for the client. Throws `conflict` if the run has ended meanwhile. */
  async function goOn(run: RunRecord): Promise<RunRecord> {
    let current = run
    const last = await toolCalls.findOne({ run_id: run._id }, { step: 1 }).sort({ step: -1 }).lean()
    if (last !== null && !(await toolCalls.exists({ run_id: run._id, ...undecided }))) {
      const waitedMs = run.waiting_since === undefined ? 0 : Math.max(0, Date.now() - run.waiting_since.getTime())
      const resumed = await runs
        .findOneAndUpdate(
          { ...runKey(run), status: 'interrupted' },
          {
            $set: { status: 'running' },
            $inc: { fence: 1, waited_ms: waitedMs },
            $unset: { last_data_event_id: 1, expires_at: 1, waiting_since: 1 },
          },
          { returnDocument: 'after' },
        )
        .lean<RunRecord>()
      current = resumed ?? (await runs.findOne(runKey(run)).lean<RunRecord>()) ?? run
      if (!isOpenRun(current)) throw notWaiting()
      // A reader who joins now waits for what follows; if this entry is lost, the next message shows the same.
      await stream.publish(run._id, current.fence, [{ type: 'resumed' }]).catch(onError)
      const message = { runId: run._id, step: last.step }
      await workflows.signal(threadContract, { threadId: run.thread_id }, 'resumeRun', message)
    }
    const waitsForClient = await toolCalls.exists({ run_id: run._id, status: 'waiting', client: true })
    const $unset = { deciding_since: 1, ...(waitsForClient === null ? { expires_at: 1 } : {}) } as const
    const now = await runs.findOneAndUpdate(runKey(run), { $unset }, { returnDocument: 'after' }).lean<RunRecord>()
    return now ?? current
  }

  return { begin, waitingCalls, goOn }
}

export function notWaiting(what: 'a decision' | 'results' = 'a decision'): AppError {
  return new AppError('conflict', `This run does not wait for ${what}.`)
}
