import type { ClientSession } from 'mongoose'
import {
  type RunError,
  type RunKey,
  type RunRecord,
  type SpentAttempt,
  firstFence,
  openRunStatuses,
  runKey,
} from '../../domain/records/run.ts'
import type { ChildRunKey, CallResult, ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { Collections } from '../collections.ts'
import { isMatched } from '../stores/results.ts'

const isOpen = { status: { $in: [...openRunStatuses] } }
/** It does not wait for a person or its client. */
const isActive = { status: { $in: ['pending' as const, 'running' as const] } }
const isInterrupted = { status: 'interrupted' as const }

/** From which state a run is ended. */
const endable = {
  open: isOpen,
  unbegun: { ...isActive, fence: { $lte: firstFence }, step_fence: { $exists: false } },
  interrupted: isInterrupted,
  // A client that has answered leaves no deadline, although the run may still wait for people.
  expiring: { ...isInterrupted, expires_at: { $exists: true } },
}
export type Endable = keyof typeof endable

/** A run as an attempt has claimed it: it is this attempt's until another takes the next fence. */
type Claimed = Pick<RunRecord, '_id' | 'thread_id' | 'fence'>
const mine = (run: Claimed) => ({ ...runKey(run), fence: run.fence })

export type DueRun = RunKey & { check_at: Date }

/** Statements on a run that starts, or is one of several of a thread. */
export const startedRunStore = ({ runs }: Pick<Collections, 'runs'>) => ({
  /** One journalled write, without a copy by the model. */
  add: async (run: RunRecord, session?: ClientSession) =>
    runs.insertMany([run], { lean: true, ...(session === undefined ? {} : { session }) }),

  exists: async (key: RunKey) => (await runs.exists(runKey(key))) !== null,

  /** Whether another run of the thread is open, or this one. */
  hasOpen: async (threadId: string, _id: string | { $ne: string } | { $lt: string }) =>
    (await runs.exists({ thread_id: threadId, ...isOpen, _id })) !== null,

  listOpenBefore: async ({ _id, thread_id }: RunKey) =>
    runs.find({ thread_id, _id: { $lt: _id }, ...isOpen }, { thread_id: 1 }).lean<RunKey[]>(),

  /**
   * Temporal has the run, which waits for others on its thread: its first step marks it as running. False if that has
   * begun.
   */
  noteWaiting: async (key: RunKey, waiting: Pick<RunRecord, 'status' | 'handed_over'>) =>
    isMatched(
      await runs.updateOne(
        { ...runKey(key), status: 'running', fence: firstFence },
        { $set: waiting, $unset: { started_at: 1 } },
        { writeConcern: { w: 1, journal: false } },
      ),
    ),

  /** The caller decides by the run and its thread who may see it. */
  findOfAny: async (id: string) => runs.findOne({ _id: id }).lean<RunRecord>(),
})

/** Statements on a run that is executed. Each says from which state it goes on. */
export const executedRunStore = ({ runs }: Pick<Collections, 'runs'>) => ({
  /** Whose turn it is in a line. */
  findPlace: async (key: RunKey) =>
    runs.findOne(runKey(key), { user_id: 1, thread_id: 1 }).lean<Pick<RunRecord, 'user_id' | 'thread_id'>>(),

  isActive: async (key: RunKey) => (await runs.exists({ ...runKey(key), ...isActive })) !== null,

  isRunning: async (key: RunKey) => (await runs.exists({ ...runKey(key), status: 'running' })) !== null,

  /** Takes the next fence: what earlier attempts store is refused from then on. The run as it was; null if it has ended. */
  claim: async (key: RunKey, now: Date) =>
    runs
      .findOneAndUpdate(
        { ...runKey(key), ...isActive },
        [
          {
            $set: {
              fence: { $add: ['$fence', 1] },
              status: 'running',
              started_at: { $ifNull: ['$started_at', now] },
            },
          },
        ],
        { returnDocument: 'before', updatePipeline: true },
      )
      .lean<RunRecord>(),

  /**
   * Changes the run, unless it was taken over: false then. What this attempt has stored before stays, and is no other's:
   * the database may have stored it without this process hearing so.
   */
  async changeMine(
    run: Claimed,
    changes: Partial<RunRecord> & Pick<RunRecord, 'status'>,
    session?: ClientSession,
  ): Promise<boolean> {
    const options = session === undefined ? {} : { session }
    const { status } = changes
    const update = { $set: changes, ...(status === 'success' ? { $unset: { check_at: 1, failure_details: 1 } } : {}) }
    if (isMatched(await runs.updateOne({ ...mine(run), ...isActive }, update, options))) return true
    return (await runs.findOne({ ...mine(run), status }, { _id: 1 }, options).lean()) !== null
  },

  /** What the server said, if the run was not taken over. */
  noteFailure: async (run: Claimed, details: string) =>
    runs.updateOne(mine(run), { $set: { failure_details: details } }),

  addWarnings: async (key: RunKey, warnings: string[]) =>
    runs.updateOne(runKey(key), { $addToSet: { warnings: { $each: warnings } } }),

  /** Adds an attempt, once. The changed run; null if it has the attempt, or is gone. */
  addSpent: async (key: RunKey, spent: SpentAttempt) =>
    runs
      .findOneAndUpdate(
        { ...runKey(key), 'spent.fence': { $ne: spent.fence } },
        { $push: { spent } },
        { returnDocument: 'after' },
      )
      .lean<RunRecord>(),

  /** What is known of a run that has ended. */
  completeRecord: async (key: RunKey, changes: Partial<RunRecord>) => runs.updateOne(runKey(key), { $set: changes }),

  /**
   * The next fence makes sure that attempts that still work on it are refused. The ended run; null if it is in another
   * state.
   */
  end: async (
    key: RunKey,
    only: Endable,
    ended: Pick<RunRecord, 'status'> & { error: RunError },
    { isFinalized }: { isFinalized: boolean },
  ) =>
    runs
      .findOneAndUpdate(
        { ...runKey(key), ...endable[only] },
        {
          $inc: { fence: 1 },
          $set: { ...ended, finished_at: new Date() },
          $unset: {
            failure_details: 1,
            ...(isFinalized ? { check_at: 1 } : {}),
            ...(only === 'unbegun' ? { started_at: 1 } : {}),
          },
        },
        { returnDocument: 'after' },
      )
      .lean<RunRecord>(),
})

/** Statements on a run that waits for a person or its client. */
export const waitingRunStore = ({ runs }: Pick<Collections, 'runs'>) => ({
  /** False if it was taken over, or has ended. */
  interrupt: async (run: Claimed, waiting: Partial<RunRecord>) =>
    isMatched(
      await runs.updateOne(
        { ...mine(run), status: 'running' },
        { $set: { ...isInterrupted, waiting_since: new Date(), ...waiting } },
      ),
    ),

  /** Until `check_at`, the process that decides about it is considered alive. */
  beginDecision: async (key: RunKey, decision: Required<Pick<RunRecord, 'deciding_since' | 'check_at'>>) =>
    runs.updateOne({ ...runKey(key), ...isInterrupted }, { $set: decision }),

  /** The resumed run; null if it does not wait any more. */
  resume: async (key: RunKey, waitedMs: number) =>
    runs
      .findOneAndUpdate(
        { ...runKey(key), ...isInterrupted },
        {
          $set: { status: 'running' },
          $inc: { fence: 1, waited_ms: waitedMs },
          $unset: { last_data_event_id: 1, expires_at: 1, waiting_since: 1 },
        },
        { returnDocument: 'after' },
      )
      .lean<RunRecord>(),

  /** A client that has answered has no deadline any more. */
  endDecision: async (key: RunKey, { waitsForClient }: { waitsForClient: boolean }) =>
    runs
      .findOneAndUpdate(
        runKey(key),
        { $unset: { deciding_since: 1, ...(waitsForClient ? {} : { expires_at: 1 }) } },
        { returnDocument: 'after' },
      )
      .lean<RunRecord>(),
})

/** Statements on runs that others ask for. */
export const delegatedRunStore = ({ runs }: Pick<Collections, 'runs'>) => ({
  /** Which run has asked for this one. */
  askedBy: async (key: RunKey) =>
    (await runs.findOne(runKey(key), { asked_by: 1 }).lean<Pick<RunRecord, 'asked_by'>>())?.asked_by,

  /** One statement, which counts a call once, however often it is executed. False if there are as many. */
  countQuestion: async (root: RunKey, callId: string, most: number) =>
    isMatched(
      await runs.updateOne(
        {
          ...runKey(root),
          $or: [{ asking_calls: callId }, { [`asking_calls.${most - 1}`]: { $exists: false } }],
        },
        { $addToSet: { asking_calls: callId } },
      ),
    ),

  listOpen: async (childRuns: ChildRunKey[]) =>
    runs
      .find(
        {
          _id: { $in: childRuns.map(({ run_id }) => run_id) },
          thread_id: { $in: childRuns.map((run) => run.thread_id) },
          ...isOpen,
        },
        { thread_id: 1 },
      )
      .lean<RunKey[]>(),
})

/** Statements of the sweep, on runs of all users. `check_at` is a lease. */
export const sweptRunStore = ({ runs }: Pick<Collections, 'runs'>) => ({
  /** Asks every shard. */
  listDueOfAny: async (now: Date, most: number) =>
    runs
      .find({ check_at: { $lt: now } }, { thread_id: 1, check_at: 1 })
      .sort({ check_at: 1 })
      .limit(most)
      .lean<DueRun[]>(),

  /** Null if another worker has taken the run since it was read, or it is settled. */
  take: async ({ check_at, ...key }: DueRun, until: Date) =>
    runs
      .findOneAndUpdate({ ...runKey(key), check_at }, { $set: { check_at: until } }, { returnDocument: 'after' })
      .lean<RunRecord>(),

  hasNewerBegun: async ({ _id, thread_id }: RunKey) =>
    (await runs.exists({ thread_id, _id: { $gt: _id }, started_at: { $exists: true } })) !== null,

  /** Unless it is settled. */
  checkAgain: async (key: RunKey, again: Pick<RunRecord, 'check_at' | 'requeued'>) =>
    runs.updateOne({ ...runKey(key), check_at: { $exists: true } }, { $set: again }),

  endChecks: async (key: RunKey) => runs.updateOne(runKey(key), { $unset: { check_at: 1 } }),
})

/** A call that is not answered, and about which no person has decided. */
const undecided = { status: 'waiting' as const, decision: { $exists: false } }
const notDone = { status: { $ne: 'done' as const } }

/** Statements on the calls of a run: a ledger, in which each call is made and answered once. */
export const ledgerStore = ({ toolCalls }: Pick<Collections, 'toolCalls'>) => ({
  /** By its key, which names its run. */
  find: async (key: string) => toolCalls.findById(key).lean<ToolCallRecord>(),

  addAll: async (calls: ToolCallRecord[], session: ClientSession) =>
    toolCalls.insertMany(calls, { session, lean: true }),

  /** In their order; `ownOnly`: without those that wait for the client. */
  listOfStep: async (runId: string, step: number, { ownOnly = false } = {}) =>
    toolCalls
      .find({
        run_id: runId,
        step,
        ...(ownOnly ? { $or: [{ client: { $ne: true } }, { status: 'done' as const }] } : {}),
      })
      .sort({ index: 1 })
      .lean<ToolCallRecord[]>(),

  /** One of the newest step. */
  findLast: async (runId: string) => toolCalls.findOne({ run_id: runId }).sort({ step: -1 }).lean<ToolCallRecord>(),

  /** How many a run has made here, before a step. */
  countMade: async (runId: string, step: number) =>
    toolCalls.countDocuments({ run_id: runId, step: { $lt: step }, client: { $ne: true } }),

  listWaiting: async (runId: string) =>
    toolCalls.find({ run_id: runId, status: 'waiting' }).sort({ index: 1 }).lean<ToolCallRecord[]>(),

  hasUndecided: async (runId: string) => (await toolCalls.exists({ run_id: runId, ...undecided })) !== null,

  /** Of any step, or of one. */
  waitsForClient: async (runId: string, step?: number) =>
    (await toolCalls.exists({
      run_id: runId,
      ...(step === undefined ? {} : { step }),
      status: 'waiting',
      client: true,
    })) !== null,

  /** False if a person has decided about it before. */
  decide: async (_id: string, decided: Pick<ToolCallRecord, 'decision'> & Partial<Pick<ToolCallRecord, 'args_json'>>) =>
    isMatched(await toolCalls.updateOne({ _id, ...undecided }, { $set: decided })),

  async resultsOfClient(runId: string, step: number): Promise<string[]> {
    const found = await toolCalls.find({ run_id: runId, step, client: true }, { result: 1 }).lean()
    return found.map(({ result = '' }) => result)
  },

  /** The client's result. False if the call has one. */
  answer: async (_id: string, result: string) =>
    isMatched(
      await toolCalls.updateOne(
        { _id, status: 'waiting' },
        { $set: { status: 'done', result, finished_at: new Date() } },
      ),
    ),

  /** Gives a call to an attempt; null if it is in another state. */
  claim: async (_id: string, status: ToolCallRecord['status'], attempt: string) =>
    toolCalls
      .findOneAndUpdate(
        { _id, status },
        { $set: { status: 'claimed', claimed_by: attempt } },
        { returnDocument: 'after' },
      )
      .lean<ToolCallRecord>(),

  /** Stores the result of a call that is claimed, by an attempt or by another; null if it is not. */
  finish: async (_id: string, result: CallResult, claimedBy?: string | { $ne: string }) =>
    toolCalls
      .findOneAndUpdate(
        { _id, status: 'claimed', ...(claimedBy === undefined ? {} : { claimed_by: claimedBy }) },
        { $set: { status: 'done', ...result, finished_at: new Date() } },
        { returnDocument: 'after' },
      )
      .lean<ToolCallRecord>(),

  /** With a result that says why there is none, unless it has one. */
  close: async (_id: string, result: CallResult) =>
    toolCalls.updateOne({ _id, ...notDone }, { $set: { status: 'done', ...result, finished_at: new Date() } }),

  /** The run that answers it. */
  noteChildRun: async (_id: string, childRun: ChildRunKey) =>
    toolCalls.updateOne({ _id, status: 'claimed' }, { $set: { asked: childRun } }),

  async listChildRuns(runId: string): Promise<ChildRunKey[]> {
    const calls = await toolCalls.find({ run_id: runId, asked: { $exists: true } }, { asked: 1 }).lean()
    return calls.flatMap(({ asked: childRun }) => childRun ?? [])
  },
})
