import { AppError } from '../../domain/errors.ts'
import { type RunError, type RunKey, type RunRecord, runKey } from '../../domain/records/run.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import type { ScanLog } from '../threads/log-scan.ts'
import { createClientResults } from './client-results.ts'
import { type DecisionDeps, createDecisions } from './decisions.ts'
import { cancelledError, endRun, tellCancelled } from './end-run.ts'
import { type PrepareRunDeps, createPrepareRun } from './prepare-run.ts'
import { createRunFeeds } from './run-feeds.ts'
import { createRunOutput } from './run-output.ts'
import { createRunSnapshots } from './run-snapshot.ts'
import { type StartRunDeps, createStartRun } from './start-run.ts'

export { type CancelRunDeps, cancelRun } from './end-run.ts'
export { fixedTokensOf, textOf } from './fit-conversation.ts'
export { type NewRun, type RunRequest, agreedId, inputMessages, locOf } from './prepare-run.ts'
export type { RunFeed } from './run-feeds.ts'
export type { FollowedRun } from './start-run.ts'

export type Runs = ReturnType<typeof createRuns>

/** What callers can do with runs. They check access before. */
export function createRuns(deps: StartRunDeps & PrepareRunDeps & DecisionDeps & { scanLog: ScanLog }) {
  const { runs } = deps.collections
  const decisions = createDecisions(deps)
  const output = createRunOutput(deps.scanLog)
  const feeds = createRunFeeds({ ...deps, snapshot: createRunSnapshots(deps.collections, output) })
  return {
    prepare: createPrepareRun(deps),

    ...createStartRun(deps, feeds),

    /** The state of a run for one more reader, open or ended. The receiver must close the feed. */
    follow: ({ _id: runId, thread_id: threadId }: RunKey) => feeds.open({ runId, threadId }),

    /** A run on the user's own threads; another user's is `not_found`. */
    async get(userId: string, runId: string): Promise<RunRecord> {
      const run = await runs.findOne({ _id: runId, user_id: userId }).lean<RunRecord>()
      if (run === null) throw new AppError('not_found', 'There is no such run.')
      return run
    },

    /** The runs of a thread, newest first, as many as fit into one answer. */
    list: (threadId: string, range: PageRange): Promise<Page<ListedRun>> =>
      readPage(runs.find({ thread_id: threadId }, withoutInput).sort({ _id: -1 }).lean<ListedRun>(), range, runBytes),

    output,

    /** Ends an open run at once and tells its thread, or leaves that to the sweep. A run that has ended is not changed. */
    async cancel(run: RunRecord): Promise<RunRecord> {
      const cancelled = await endRun(deps, run, cancelledError)
      await tellCancelled(deps, run).catch(deps.onError)
      return cancelled ?? (await runs.findOne(runKey(run)).lean<RunRecord>()) ?? run
    },

    /** Ends a run that waits for a person or its client; null if it does not wait. */
    async expire(run: RunRecord, error: RunError): Promise<RunRecord | null> {
      const ended = await endRun(deps, run, error, { only: 'interrupted' })
      if (ended !== null) await tellCancelled(deps, run).catch(deps.onError)
      return ended
    },

    resume: decisions.resumeRun,
    submitOutputs: createClientResults(deps),
    /** The calls for which a run waits. */
    waitingCalls: (run: RunRecord) => (run.status === 'interrupted' ? decisions.waitingCalls(run) : []),

    close: feeds.close,
  }
}

/** Lists do not contain inputs, because each may have megabytes. */
export const withoutInput = { input_json: 0 } as const
export type ListedRun = Omit<RunRecord, 'input_json'>

export function runBytes(run: ListedRun): number {
  return Buffer.byteLength(JSON.stringify(run))
}
