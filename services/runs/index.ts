import { AppError } from '../../domain/errors.ts'
import type { RunError, RunKey, RunRecord } from '../../domain/records/run.ts'
import type { Caller } from '../owner.ts'
import type { Page, PageRange } from '../page.ts'
import { type ListedRun, runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import type { ScanLog } from '../threads/log-scan.ts'
import { maySee } from '../threads/read-threads.ts'
import { createClientResults } from './client-results.ts'
import { type DecisionDeps, createDecisions } from './decisions.ts'
import { cancelledError, endRun, notifyCancelled } from './end-run.ts'
import { type PrepareRunDeps, createPrepareRun } from './prepare-run.ts'
import { createRunFeeds } from './run-feeds.ts'
import { createRunOutput, createRunSnapshots } from './run-snapshot.ts'
import { type StartRunDeps, createStartRun } from './start-run.ts'
import { startedRunStore } from './store.ts'

export { type CancelRunDeps, cancelRun } from './end-run.ts'
export { fixedTokensOf, textOf } from './fit-conversation.ts'
export { type NewRun, type RunRequest, agreedId, inputMessages, locOf } from './prepare-run.ts'
export type { RunFeed } from './run-feeds.ts'
export { type ListedRun, runBytes } from '../stores/runs.ts'
export type { FollowedRun } from './start-run.ts'

export type Runs = ReturnType<typeof createRuns>

/** What callers can do with runs. They check access before. */
export function createRuns(deps: StartRunDeps & PrepareRunDeps & DecisionDeps & { scanLog: ScanLog }) {
  const runs = runStore(deps.collections)
  const decisions = createDecisions(deps)
  const output = createRunOutput(deps.scanLog)

  async function find(caller: Caller, runId: string): Promise<{ run: RunRecord; threadOwner: string }> {
    const run = await startedRunStore(deps.collections).findOfAny(runId)
    if (run === null) throw missing()
    if (run.user_id === caller.userId && !run.in_chat_of_other) return { run, threadOwner: caller.userId }
    const thread = await threadStore(deps.collections).findAccessOfAny(run.thread_id)
    if (thread === null || !maySee(caller, thread)) throw missing()
    return { run, threadOwner: thread.user_id }
  }

  const feeds = createRunFeeds({ ...deps, snapshot: createRunSnapshots(deps.collections, output) })
  return {
    prepare: createPrepareRun(deps),

    ...createStartRun(deps, feeds),

    /** The state of a run for one more reader, open or ended. The receiver must close the feed. */
    follow: ({ _id: runId, thread_id: threadId }: RunKey) => feeds.open({ runId, threadId }),

    /** A run on a thread that the caller sees; any other is `not_found`. */
    async get(caller: Caller, runId: string): Promise<RunRecord> {
      return (await find(caller, runId)).run
    },

    /** The same, for what only who started it and the owner of its thread may do; `forbidden` for others. */
    async requireControl(caller: Caller, runId: string): Promise<RunRecord> {
      const { run, threadOwner } = await find(caller, runId)
      requireControl(caller, run, threadOwner)
      return run
    },

    /** The runs of a thread, newest first, as many as fit into one answer. */
    list: (threadId: string, range: PageRange): Promise<Page<ListedRun>> => runs.listInThread(threadId, range),

    output,

    /** Ends an open run at once and tells its thread, or leaves that to the sweep. A run that has ended is not changed. */
    async cancel(run: RunRecord): Promise<RunRecord> {
      const cancelled = await endRun(deps, run, cancelledError)
      await notifyCancelled(deps, run).catch(deps.onError)
      return cancelled ?? (await runs.findInThread(run)) ?? run
    },

    /** Ends a run that waits for a person or its client; null if it does not wait. */
    async expire(run: RunKey, error: RunError): Promise<RunRecord | null> {
      const ended = await endRun(deps, run, error, { only: 'interrupted' })
      if (ended !== null) await notifyCancelled(deps, run).catch(deps.onError)
      return ended
    },

    resume: decisions.resumeRun,
    submitOutputs: createClientResults(deps),
    /** The calls for which a run waits. */
    waitingCalls: (run: RunRecord) => (run.status === 'interrupted' ? decisions.waitingCalls(run) : []),

    close: feeds.close,
  }
}

/** Throws `forbidden` for somebody who neither started the run nor owns its thread. */
export function requireControl({ userId }: Caller, run: Pick<RunRecord, 'user_id'>, threadOwner: string): void {
  if (run.user_id === userId || threadOwner === userId) return
  throw new AppError('forbidden', 'Only whoever started this run, or made its chat, may do this.')
}

const missing = () => new AppError('not_found', 'There is no such run.')
