import type { StepResult } from '../../domain/contracts/thread.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ModelUsage, RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'

/** Another attempt, a cancellation or a deletion has taken the run over: what this process produces is refused. */
export class SupersededError extends Error {
  constructor() {
    super('Another attempt has taken this run over.')
    this.name = 'SupersededError'
  }
}

/**
 * The states of a run in one process:
 * - `offered`: the process stores the run and passes it to Temporal; no step has begun
 * - `begun`: Temporal gave the run's first task to this process, which executes the first step; its workflow has not
 *   asked for it
 * - `joined`: a step is executed, and its workflow waits for the result
 * - `paused`: the tools of a step are called; the next step continues with what is known here
 * - `ended`: the workflow has the result of the last step here
 * - `dropped`: this process has nothing to do with the run any more
 */
export type LiveRunState = 'offered' | 'begun' | 'joined' | 'paused' | 'ended' | 'dropped'

/**
 * What happens to a run in one process:
 * - `begin`: Temporal gave its first task to this process, and a slot is free
 * - `ask`: its workflow asks for a step
 * - `pause`, `end`: the workflow gets the result of a step, with or without tools
 * - `leave`: another execution or process has the run, or may have it because the workflow did not ask in time
 * - `change`: the thread has changed since it was read, or the run's parents are gone
 * - `supersede`: the run has ended, was not started, or another attempt has its next fence
 */
export type LiveRunEvent = 'begin' | 'ask' | 'pause' | 'end' | 'leave' | 'change' | 'supersede'

/** Every transition. An event that is not listed for a state changes nothing. */
export const transitions: Record<LiveRunState, Partial<Record<LiveRunEvent, LiveRunState>>> = {
  offered: { begin: 'begun', ask: 'joined', leave: 'dropped', supersede: 'dropped' },
  begun: { ask: 'joined', leave: 'dropped', change: 'dropped', supersede: 'dropped' },
  joined: { pause: 'paused', end: 'ended', change: 'dropped', supersede: 'dropped' },
  paused: { ask: 'joined', leave: 'dropped', supersede: 'dropped' },
  ended: {},
  dropped: {},
}

/** What a process has read of a run, so that the next step in this process does not read it again. */
interface KnownOfRun {
  assistant: AssistantRecord
  /** The thread's record, if nothing was added to the thread since. */
  thread: ThreadRecord | undefined
  /** The tokens of the steps so far, if they are known. */
  usages: ModelUsage[] | undefined
}

interface LiveRunOptions {
  state: 'offered' | 'joined'
  step: number
  known?: KnownOfRun
  isFresh: boolean
  onTransition(run: LiveRun, before: LiveRunState): void
}

/**
 * One run in one process, under one fence. Whether its parents have been checked is not one of its states, because that
 * may become known before or after the workflow asks for the step, and only what the step stores waits for it.
 */
export class LiveRun {
  readonly run: RunRecord
  /** The step that is executed, or that comes next. */
  step: number
  known: KnownOfRun | undefined
  /** No attempt has stored anything of the step. */
  readonly isFresh: boolean
  /** The execution of a first step that has begun; undefined as its result if the run was dropped meanwhile. */
  early: Promise<StepResult | undefined> | undefined
  /** With it, the run is paused when the workflow has the result of the step. */
  next: KnownOfRun | undefined
  /** Ends the state that the run is in. */
  timer: NodeJS.Timeout | undefined

  #state: LiveRunState
  #droppedBy: LiveRunEvent | undefined
  readonly #parents = Promise.withResolvers<void>()
  readonly #cancellation = new AbortController()
  readonly #onTransition: LiveRunOptions['onTransition']

  constructor(run: RunRecord, { state, step, known, isFresh, onTransition }: LiveRunOptions) {
    this.run = { ...run }
    this.step = step
    this.known = known
    this.isFresh = isFresh
    this.#state = state
    this.#onTransition = onTransition
    this.#parents.promise.catch(() => undefined)
    // A run that was claimed is checked by the process that stored it.
    if (state === 'joined') this.#parents.resolve()
  }

  get state(): LiveRunState {
    return this.#state
  }

  /** Whether its steps are to be executed by another attempt, which may be one in this process. */
  get isGivenUp(): boolean {
    return this.#state === 'dropped' && this.#droppedBy !== 'supersede'
  }

  /** Aborted when the run is dropped or its workflow cancels the step. */
  get signal(): AbortSignal {
    return this.#cancellation.signal
  }

  /**
   * Resolves when the run's thread and assistant are known to be there, and the thread as it was read. Nothing of the run
   * may be stored before. Rejected when the run is dropped.
   */
  get parentsChecked(): Promise<void> {
    return this.#parents.promise
  }

  /** Applies an event. False if it changes nothing in this state. */
  apply(event: LiveRunEvent): boolean {
    const before = this.#state
    const after = transitions[before][event]
    if (after === undefined) return false
    this.#state = after
    if (after === 'dropped') this.#drop(event)
    else if (after === 'paused') this.#prepareNextStep()
    this.#onTransition(this, before)
    return true
  }

  /** The run's parents have been checked, and its thread is `same` as when it was read, or has `changed`. */
  noteParents(found: 'same' | 'changed'): void {
    // A step that begins later reads the thread itself, because entries may be added after this check.
    if (this.#state === 'offered' && this.known) this.known = { ...this.known, thread: undefined }
    if (found === 'changed') this.apply('change')
    if (this.#state !== 'dropped') this.#parents.resolve()
  }

  /** The workflow cancels the step. */
  cancel(reason: unknown): void {
    this.#cancellation.abort(reason)
  }

  #drop(event: LiveRunEvent): void {
    this.#droppedBy = event
    const reason = new SupersededError()
    this.#parents.reject(reason)
    this.#cancellation.abort(reason)
  }

  #prepareNextStep(): void {
    this.step += 1
    this.known = this.next
    this.next = undefined
    this.early = undefined
    // The input is part of the thread's log by now.
    this.run.input_json = ''
  }
}

/** How long a run waits in memory for its next step. Most tools answer within this time. */
const pausedMs = 10_000
/** If the process has more runs than this, none of them begins to wait in memory for its next step. */
const maxCached = 1000

export type LiveRuns = ReturnType<typeof createLiveRuns>

/**
 * The runs of this process: those that it has stored and is passing to Temporal, those of which it executes a step, and
 * those whose tools are being called. A run is here once: a newer attempt replaces the older one.
 *
 * If another process takes a run over, the fence refuses what this one publishes and stores.
 */
export function createLiveRuns(options: TaskTimeoutOptions) {
  const taskTimeouts = createTaskTimeouts(options)
  const byRun = new Map<string, LiveRun>()

  function add(live: LiveRun): LiveRun {
    byRun.get(live.run._id)?.apply('supersede')
    byRun.set(live.run._id, live)
    return live
  }

  /** Limits the time of the new state. That of an offer goes on when its step has begun. */
  function onTransition(live: LiveRun): void {
    if (live.state === 'begun') return
    clearTimeout(live.timer)
    if (live.state === 'ended' || live.state === 'dropped') byRun.delete(live.run._id)
    else if (live.state === 'paused' && byRun.size > maxCached) live.apply('leave')
    else if (live.state === 'paused') leaveAfter(live, pausedMs)
  }

  return {
    /**
     * A run that this process is about to store and to pass to Temporal. `taskTimeoutMs` is the timeout of its first
     * workflow task: until then no other process is given the task, and the offer is valid.
     */
    offer(
      run: RunRecord,
      { assistant, thread }: { assistant: AssistantRecord; thread: ThreadRecord },
    ): { live: LiveRun; taskTimeoutMs: number } {
      const start = taskTimeouts.begin()
      const live = new LiveRun(run, {
        state: 'offered',
        step: 0,
        known: { assistant, thread, usages: [] },
        isFresh: true,
        onTransition(changed, before) {
          if (isStarting(before) && !isStarting(changed.state)) start.ended({ asked: changed.state === 'joined' })
          onTransition(changed)
        },
      })
      leaveAfter(live, start.timeoutMs)
      return { live: add(live), taskTimeoutMs: start.timeoutMs }
    },

    /** A run whose next fence a step of this process has just taken. It replaces what was known of the run here. */
    claimed: (run: RunRecord, { step, isFresh }: { step: number; isFresh: boolean }): LiveRun =>
      add(new LiveRun(run, { state: 'joined', step, isFresh, onTransition })),

    get: (runId: string): LiveRun | undefined => byRun.get(runId),

    /** What is known of a run whose tools are being called. */
    pausedOf(runId: string): (KnownOfRun & { run: RunRecord }) | undefined {
      const live = byRun.get(runId)
      return live?.state === 'paused' && live.known ? { ...live.known, run: live.run } : undefined
    },

    /** The run has ended, or another attempt has taken this fence. */
    supersede(runId: string, fence: number): void {
      const live = byRun.get(runId)
      if (live !== undefined && live.run.fence < fence) live.apply('supersede')
    },

    /** The threads are being deleted: nothing of them stays in memory. */
    forgetThreads(threadIds: Iterable<string>): void {
      const ids = new Set(threadIds)
      for (const live of byRun.values()) if (ids.has(live.run.thread_id)) live.apply('supersede')
    },
  }
}

function leaveAfter(live: LiveRun, ms: number): void {
  live.timer = setTimeout(() => live.apply('leave'), ms).unref()
}

const isStarting = (state: LiveRunState) => state === 'offered' || state === 'begun'

interface TaskTimeoutOptions {
  /** The timeout of a workflow task in a process that is not busy. */
  taskTimeoutMs: number
  clock?: () => number
}

/** By how much each start that is under way makes the others last longer: about its processor time. */
const perStartMs = 50
/** A workflow task may take so many times longer than the start of a run. */
const margin = 4
/** The longest task timeout, as a multiple of the configured one. */
const longestTimes = 10
/** How long a slow start counts. */
const recentMs = 10_000

/**
 * Decides the timeout of a run's first workflow task. A busy process reports late to the server. If its tasks timed
 * out, other processes would execute the same steps again, and all would become slower still. So the timeout is the
 * configured one while starts are quick, and grows with them.
 */
export function createTaskTimeouts({ taskTimeoutMs, clock = () => performance.now() }: TaskTimeoutOptions) {
  let underWay = 0
  let slowest = { ms: 0, at: 0 }

  return {
    /**
     * A run is about to be started. `ended` is called once, when the start is over: `asked` says that the workflow has
     * asked for the first step.
     */
    begin(): { timeoutMs: number; ended(how: { asked: boolean }): void } {
      const since = clock()
      underWay += 1
      const recent = since <= slowest.at + recentMs ? slowest.ms : 0
      const expected = Math.max(recent, underWay * perStartMs)
      return {
        timeoutMs: Math.round(Math.min(Math.max(taskTimeoutMs, expected * margin), taskTimeoutMs * longestTimes)),
        ended({ asked }) {
          underWay -= 1
          const now = clock()
          const ms = now - since
          if (asked && (ms >= slowest.ms || now > slowest.at + recentMs)) slowest = { ms, at: now }
        },
      }
    },
  }
}
