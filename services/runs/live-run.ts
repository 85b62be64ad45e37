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
 * - `leave`: Temporal gave the run to another execution or to another process
 * - `change`: the thread has changed since it was read, or the run's parents are gone
 * - `expire`: the workflow did not ask in time, so that another process may have the run
 * - `withdraw`: the run could not be stored, or Temporal did not take it
 * - `supersede`: the run has ended, or another attempt has its next fence
 */
export type LiveRunEvent = 'begin' | 'ask' | 'pause' | 'end' | 'leave' | 'change' | 'expire' | 'withdraw' | 'supersede'

/** Every transition. An event that is not listed for a state changes nothing. */
export const transitions: Record<LiveRunState, Partial<Record<LiveRunEvent, LiveRunState>>> = {
  offered: {
    begin: 'begun',
    ask: 'joined',
    leave: 'dropped',
    expire: 'dropped',
    withdraw: 'dropped',
    supersede: 'dropped',
  },
  begun: { ask: 'joined', change: 'dropped', expire: 'dropped', withdraw: 'dropped', supersede: 'dropped' },
  joined: { pause: 'paused', end: 'ended', change: 'dropped', withdraw: 'dropped', supersede: 'dropped' },
  paused: { ask: 'joined', expire: 'dropped', supersede: 'dropped' },
  ended: {},
  dropped: {},
}

/** What a process has read of a run, so that the next step in this process does not read it again. */
export interface KnownOfRun {
  assistant: AssistantRecord
  /** The thread's record, if nothing was added to the thread since. */
  thread: ThreadRecord | undefined
  /** The tokens of the steps so far, if they are known. */
  usages: ModelUsage[] | undefined
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
  readonly #onTransition: (run: LiveRun, before: LiveRunState) => void

  constructor(
    run: RunRecord,
    {
      state,
      step,
      known,
      isFresh,
      onTransition,
    }: {
      state: 'offered' | 'joined'
      step: number
      known?: KnownOfRun
      isFresh: boolean
      onTransition: (run: LiveRun, before: LiveRunState) => void
    },
  ) {
    this.run = { ...run }
    this.step = step
    this.known = known
    this.isFresh = isFresh
    this.#state = state
    this.#onTransition = onTransition
    this.#parents.promise.catch(() => undefined)
    // A run that was claimed has been checked by the process that stored it.
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
    else this.run.started_at ??= new Date()
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
