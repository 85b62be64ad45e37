import type { CarriedRun, CarriedThread, EnqueueRun } from '../domain/contracts/thread.ts'

/** A run that is being executed. */
interface Current {
  run: CarriedRun
  scope: { cancel(): void }
}

/** The runs of one conversation: the one that is executed, and those that wait, in the order of their ids. */
export class ThreadQueue<C extends Current> {
  current: C | undefined
  readonly #waiting: EnqueueRun[]
  /** Waiting runs that have been cancelled. */
  readonly #cancelled: Set<string>
  /** The newest run that interrupts others. Ids are time-ordered. */
  #interruptedBy: string | undefined
  #isClosed = false

  constructor(carried: CarriedThread | undefined, first: EnqueueRun | undefined, current: C | undefined) {
    this.current = current
    this.#waiting = [...(carried?.waiting ?? []), ...(first ? [first] : [])]
    this.#cancelled = new Set(carried?.cancelled)
    this.#interruptedBy = carried?.interruptedBy ?? (first?.strategy === 'interrupt' ? first.runId : undefined)
  }

  /** No run is added without being cancelled. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Adds a run; one that is known already is not added again. */
  enqueue(run: EnqueueRun): void {
    const { runId } = run
    if (this.#isKnown(runId)) return
    // Requests that are sent at once can arrive in another order than that of their ids.
    const newer = this.#waiting.findIndex((other) => other.runId > runId)
    const isInterrupted = this.#interruptedBy !== undefined && runId < this.#interruptedBy
    if (run.strategy === 'interrupt') this.#cancelOlder(runId)
    this.#waiting.splice(newer === -1 ? this.#waiting.length : newer, 0, run)
    if (this.#isClosed || isInterrupted) this.#cancelled.add(runId)
  }

  /** Whether a run that is not known would have to wait for others. */
  isBusyFor(runId: string): boolean {
    return !this.#isKnown(runId) && (this.current !== undefined || this.#waiting.length > 0)
  }

  cancel(runId: string): void {
    if (this.current?.run.runId === runId) this.current.scope.cancel()
    else if (this.#isKnown(runId)) this.#cancelled.add(runId)
  }

  /** Cancels all runs, also those that are added later. */
  close(): void {
    this.#isClosed = true
    for (const { runId } of this.#waiting) this.#cancelled.add(runId)
    this.current?.scope.cancel()
  }

  /** Takes the run whose turn it is. */
  next(): { run: EnqueueRun; isCancelled: boolean } | undefined {
    const run = this.#waiting.shift()
    return run && { run, isCancelled: this.#cancelled.delete(run.runId) }
  }

  /** Executes a run. One that has been cancelled is cancelled at once. */
  begin(current: C): void {
    this.current = current
    if (this.#cancelled.delete(current.run.runId)) current.scope.cancel()
  }

  /** Changes what is known of the current run, if it is this one. */
  change(runId: string, change: (run: CarriedRun) => void): void {
    if (this.current?.run.runId === runId) change(this.current.run)
  }

  /** What the next execution of the workflow begins with. */
  state(isCurrentCancelled: boolean): CarriedThread {
    const { current } = this
    if (current && isCurrentCancelled) this.#cancelled.add(current.run.runId)
    return {
      waiting: this.#waiting,
      cancelled: [...this.#cancelled],
      ...(current === undefined ? {} : { current: current.run }),
      ...(this.#interruptedBy === undefined ? {} : { interruptedBy: this.#interruptedBy }),
    }
  }

  #isKnown(runId: string): boolean {
    return this.current?.run.runId === runId || this.#waiting.some((run) => run.runId === runId)
  }

  #cancelOlder(runId: string): void {
    for (const run of this.#waiting) if (run.runId < runId) this.#cancelled.add(run.runId)
    if (this.current && this.current.run.runId < runId) this.current.scope.cancel()
    if (this.#interruptedBy === undefined || this.#interruptedBy < runId) this.#interruptedBy = runId
  }
}
