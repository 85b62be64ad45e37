import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { type KnownOfRun, LiveRun, type LiveRunState } from './live-run.ts'

/** The fence with which a run is stored. It belongs to the process that stored it. */
export const firstFence = 1

/** How long a run waits in memory for its next step. Most tools answer within this time. */
const pausedMs = 10_000
/** If the process has more runs than this, none of them begins to wait in memory for its next step. */
const maxKept = 1000

export interface TaskTimeoutOptions {
  /** The timeout of a workflow task in a process that is not busy. */
  taskTimeoutMs: number
  clock?: () => number
}

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
  const byThread = new Map<string, Set<LiveRun>>()

  function add(live: LiveRun): LiveRun {
    const { _id: runId, thread_id: threadId } = live.run
    byRun.get(runId)?.apply('supersede')
    byRun.set(runId, live)
    byThread.set(threadId, (byThread.get(threadId) ?? new Set()).add(live))
    return live
  }

  function remove(live: LiveRun): void {
    const { _id: runId, thread_id: threadId } = live.run
    byRun.delete(runId)
    const others = byThread.get(threadId)
    others?.delete(live)
    if (others?.size === 0) byThread.delete(threadId)
  }

  /** Limits the time of the new state. That of an offer goes on when its step has begun. */
  function onTransition(live: LiveRun): void {
    if (live.state === 'begun') return
    clearTimeout(live.timer)
    if (live.state === 'ended' || live.state === 'dropped') remove(live)
    else if (live.state === 'paused' && byRun.size > maxKept) live.apply('expire')
    else if (live.state === 'paused') expireAfter(live, pausedMs)
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
      expireAfter(live, start.timeoutMs)
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
      for (const id of threadIds) for (const live of byThread.get(id) ?? []) live.apply('supersede')
    },
  }
}

function expireAfter(live: LiveRun, ms: number): void {
  live.timer = setTimeout(() => live.apply('expire'), ms).unref()
}

const isStarting = (state: LiveRunState) => state === 'offered' || state === 'begun'

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
