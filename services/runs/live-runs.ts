import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { type KnownOfRun, LiveRun, type LiveRunState } from './live-run.ts'
import type { TaskTimeouts } from './task-timeouts.ts'

/** The fence with which a run is stored. It belongs to the process that stored it. */
export const firstFence = 1

/** How long a run waits in memory for its next step. Most tools answer within this time. */
const pausedMs = 10_000
const maxPaused = 1000

export type LiveRuns = ReturnType<typeof createLiveRuns>

/**
 * The runs of this process: those that it has stored and is passing to Temporal, those of which it executes a step, and
 * those whose tools are being called. A run is here once: a newer attempt replaces the older one.
 *
 * If another process takes a run over, the fence refuses what this one publishes and stores.
 */
export function createLiveRuns({ taskTimeouts }: { taskTimeouts: TaskTimeouts }) {
  const byRun = new Map<string, LiveRun>()
  const starts = new WeakMap<LiveRun, ReturnType<TaskTimeouts['begin']>>()
  let pausedCount = 0

  function add(live: LiveRun): LiveRun {
    byRun.get(live.run._id)?.apply('supersede')
    byRun.set(live.run._id, live)
    return live
  }

  /** Keeps the register, and limits the time of the new state. */
  function onTransition(live: LiveRun, before: LiveRunState): void {
    if (isStarting(before) && !isStarting(live.state)) starts.get(live)?.ended({ asked: live.state === 'joined' })
    if (before === 'paused') pausedCount -= 1
    if (live.state === 'begun') return
    clearTimeout(live.timer)
    if (live.state === 'paused') pause(live)
    if (isOver(live.state) && byRun.get(live.run._id) === live) byRun.delete(live.run._id)
  }

  function pause(live: LiveRun): void {
    live.timer = setTimeout(() => live.apply('expire'), pausedMs).unref()
    pausedCount += 1
    if (pausedCount > maxPaused) oldestPaused()?.apply('expire')
  }

  function oldestPaused(): LiveRun | undefined {
    for (const live of byRun.values()) if (live.state === 'paused') return live
    return undefined
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
      const known = { assistant, thread, usages: [] }
      const live = new LiveRun(run, { state: 'offered', step: 0, known, isFresh: true, onTransition })
      starts.set(live, start)
      live.timer = setTimeout(() => live.apply('expire'), start.timeoutMs).unref()
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
    forgetThreads(threadIds: ReadonlySet<string>): void {
      for (const live of byRun.values()) if (threadIds.has(live.run.thread_id)) live.apply('supersede')
    },
  }
}

const isStarting = (state: LiveRunState) => state === 'offered' || state === 'begun'
const isOver = (state: LiveRunState) => state === 'ended' || state === 'dropped'
