import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { runStore } from '../stores/runs.ts'

export const threadStatuses = ['idle', 'busy', 'interrupted', 'error'] as const
export type ThreadStatus = (typeof threadStatuses)[number]

type Dated = Pick<ThreadRecord, '_id' | 'last_outcome'>

/** The status of each thread, from its runs; one query for any number of threads. */
export async function statusesOf(
  collections: Pick<Collections, 'runs'>,
  threads: Dated[],
): Promise<Map<string, ThreadStatus>> {
  const open = await runStore(collections).listOpenStates(threads.map((thread) => thread._id))
  const busy = new Set(open.filter((run) => run.status !== 'interrupted').map((run) => run.thread_id))
  const interrupted = new Set(open.filter((run) => run.status === 'interrupted').map((run) => run.thread_id))
  return new Map(
    threads.map(({ _id, last_outcome: outcome }) => [
      _id,
      interrupted.has(_id) ? 'interrupted' : busy.has(_id) ? 'busy' : outcome === 'error' ? 'error' : 'idle',
    ]),
  )
}
