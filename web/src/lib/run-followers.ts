import { type RunSnapshot, followRun } from '../../../client/src/index.ts'
import { keys, queryClient, tokenOf, wordsOf } from './api.ts'
import { fetchExact } from './exact-numbers.ts'
import { createListeners } from './listeners.ts'

export interface Followed {
  snapshot: RunSnapshot | undefined
  /** Why following was given up. The run itself may continue. */
  problem?: string
  isOver: boolean
}

const followed = new Map<string, Followed>()
const { notify, useRead } = createListeners()
let version = 0
let isScheduled = false

/**
 * Follows a run until it ends, only once even if called several times. `again` restarts after a person's decision.
 */
export function follow(runId: string, threadId: string, { again = false } = {}): void {
  if (followed.has(runId) && !again) return
  followed.set(runId, { snapshot: followed.get(runId)?.snapshot, isOver: false })
  void run(runId, threadId)
}

async function run(runId: string, threadId: string): Promise<void> {
  try {
    for await (const snapshot of followRun({ baseUrl: '', token: tokenOf, runId, fetch: fetchExact })) {
      set(runId, { snapshot, isOver: snapshot.status !== 'running' })
    }
  } catch (error) {
    set(runId, { snapshot: followed.get(runId)?.snapshot, problem: wordsOf(error, ''), isOver: true })
  }
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: keys.state(threadId) }),
    queryClient.invalidateQueries({ queryKey: keys.runs(threadId) }),
    queryClient.invalidateQueries({ queryKey: keys.threads }),
  ])
}

/** The state of the runs that are followed; renders at most once a frame. */
export function useFollowed(): (runId: string) => Followed | undefined {
  useRead(() => version)
  return (runId) => followed.get(runId)
}

function set(runId: string, entry: Followed): void {
  followed.set(runId, entry)
  if (isScheduled) return
  isScheduled = true
  requestAnimationFrame(() => {
    isScheduled = false
    version += 1
    notify()
  })
}
