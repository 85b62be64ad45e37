import { type StepQueued, threadContract } from '../../domain/contracts/thread.ts'
import type { RunKey } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { type Release, type Semaphore, createSemaphore } from '../semaphore.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { executedRunStore } from './store.ts'

/**
 * Executes a model step when its turn comes; throws the signal's reason if the signal aborts first. A step waits for a
 * moment only: then its workflow is told with a signal when a slot is free.
 */
type InStepSlot = <T>(run: RunKey, signal: AbortSignal, work: () => Promise<T>) => Promise<T | StepQueued>

export interface StepSlots {
  inSlot: InStepSlot
  /** A slot if one is free. */
  tryAcquire(): Release | undefined
}

/** Shorter than the time after which a worker has to renew the workflow task of a step. */
const longestWaitMs = 1000
/** How long a free slot is kept for a step whose workflow was told. A busy machine needs seconds for it. */
const cachedMs = 20_000
/**
 * A workflow that waits asks again by itself, in case the process with its place died. The times are such that all
 * waiting workflows together ask about five times a second.
 */
const polling = { eachMs: 200, leastMs: 5000, mostMs: 300_000 }

interface StepSlotsDeps {
  collections: Pick<Collections, 'runs'>
  workflows: Pick<WorkflowClient, 'signal'>
  onError(error: unknown): void
}

/**
 * Limits the model steps that one process executes at once. Steps that find no free slot wait in a line, and their
 * users take turns, so that the queue of one user delays another by one step at most. Temporal's worker would execute
 * them in the order of arrival. While there are free slots, the owner of the run is not looked up.
 *
 * A waiting step does not hold its workflow task, which would have to be renewed every few seconds: it ends as
 * `queued`, and keeps its place.
 */
export function createStepSlots(deps: StepSlotsDeps, slots: number): StepSlots {
  const semaphore = createSemaphore({ slots, waitingPerOwner: Infinity })
  const line = createLine(deps, semaphore)

  async function acquire(key: RunKey, signal: AbortSignal): Promise<Release | undefined> {
    const { _id: runId } = key
    const known = line.entryOf(runId)
    if (known) return line.turnAt(known, signal, 0)
    const free = semaphore.tryAcquire()
    if (free) return free
    const run = await executedRunStore(deps.collections).findPlace(key)
    signal.throwIfAborted()
    // Meanwhile a slot may have become free, or a repetition of the step may have joined the line.
    const freeNow = line.entryOf(runId) ? undefined : semaphore.tryAcquire()
    if (freeNow) return freeNow
    const place = line.entryOf(runId) ?? line.join(runId, run ?? { user_id: '', thread_id: '' })
    return line.turnAt(place, signal, longestWaitMs)
  }

  return {
    tryAcquire: () => semaphore.tryAcquire(),
    async inSlot(key, signal, work) {
      const release = await acquire(key, signal)
      if (release === undefined) {
        const checkAfterMs = Math.min(Math.max(line.length * polling.eachMs, polling.leastMs), polling.mostMs)
        return { next: 'queued', checkAfterMs }
      }
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}

/** A run's place in the line. */
interface QueuedRun {
  runId: string
  leave: AbortController
  /** Set while a step waits here. */
  enter?: ((release: Release) => void) | undefined
  /** Set while a free slot is kept for the step. */
  kept?: { release: Release; timer: NodeJS.Timeout } | undefined
}

/** The runs that wait for a slot. A run keeps its place while its step is away. */
function createLine({ collections, workflows, onError }: StepSlotsDeps, semaphore: Pick<Semaphore, 'acquire'>) {
  const places = new Map<string, QueuedRun>()

  /** A slot is free for the run at this place, which enters, or is told and has the slot kept. */
  function admit(location: QueuedRun, release: Release, threadId: string): void {
    const { runId } = location
    if (location.enter) {
      places.delete(runId)
      return location.enter(release)
    }
    const giveUp = () => takeReserved(location)?.()
    location.kept = { release, timer: setTimeout(giveUp, cachedMs).unref() }
    notify({ _id: runId, thread_id: threadId }).then((isNotified) => isNotified || giveUp(), onError)
  }

  /** False if the run has ended, whose thread may execute another one now, or its workflow has. */
  async function notify(key: RunKey): Promise<boolean> {
    if (!(await executedRunStore(collections).isActive(key))) return false
    return workflows.signal(threadContract, { threadId: key.thread_id }, 'slotFree', { runId: key._id })
  }

  /** The slot that was kept at this place, which leaves the line; undefined if none is kept. */
  function takeReserved(location: QueuedRun): Release | undefined {
    if (location.kept === undefined) return undefined
    const { release, timer } = location.kept
    clearTimeout(timer)
    location.kept = undefined
    places.delete(location.runId)
    return release
  }

  return {
    get length() {
      return places.size
    },

    entryOf: (runId: string): QueuedRun | undefined => places.get(runId),

    join(runId: string, { user_id, thread_id }: { user_id: string; thread_id: string }): QueuedRun {
      const place: QueuedRun = { runId, leave: new AbortController() }
      places.set(runId, place)
      semaphore.acquire(user_id, place.leave.signal).then(
        (release) => release && admit(place, release, thread_id),
        () => undefined,
      )
      return place
    },

    /** Waits for a slot; undefined after `limitMs`, and then the run keeps its place. */
    turnAt(location: QueuedRun, signal: AbortSignal, limitMs: number): Promise<Release | undefined> {
      const reserved = takeReserved(location)
      if (reserved) return Promise.resolve(reserved)
      return new Promise((resolve, reject) => {
        const leave = () => {
          end()
          resolve(undefined)
        }
        const timer = setTimeout(leave, limitMs)
        const end = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', abort)
          if (location.enter === enter) location.enter = undefined
        }
        const enter = (release: Release) => {
          end()
          resolve(release)
        }
        const abort = () => {
          // Unless a repetition of the step waits here now.
          if (location.enter === enter) {
            places.delete(location.runId)
            location.leave.abort()
          }
          end()
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
        }
        location.enter = enter
        signal.addEventListener('abort', abort, { once: true })
      })
    },
  }
}
