import type { Client } from '@temporalio/client'
import { type Queue, queues } from '../../domain/contracts/workflow-contract.ts'
import type { Settings } from '../config.ts'
import { type TaskKind, describeQueue } from './describe-queue.ts'

export interface QueueStatus {
  queue: Queue
  kind: TaskKind
  /** Processes that have asked for work lately. */
  pollers: number
  /**
   * Tasks that wait for a worker, and since when the oldest does. Absent if the server does not report it (before
   * 1.25).
   */
  backlog?: number
  backlogAgeSeconds?: number
}

const kinds: TaskKind[] = ['workflow', 'activity']
const deadlineMs = 3_000

/** The backlog and the workers of each task queue. */
export function createQueueStatus(
  client: Client,
  settings: Pick<Settings, 'temporalNamespace' | 'taskQueuePrefix'>,
): () => Promise<QueueStatus[]> {
  async function describe(queue: Queue, kind: TaskKind): Promise<QueueStatus> {
    const { pollers, stats } = await describeQueue(client, settings, { queue, kind, withStats: true })
    const { approximateBacklogCount: count, approximateBacklogAge: age } = stats ?? {}
    return {
      queue,
      kind,
      pollers: new Set(pollers.map(({ identity }) => identity)).size,
      ...(stats ? { backlog: Number(count ?? 0), backlogAgeSeconds: Number(age?.seconds ?? 0) } : {}),
    }
  }
  const all = queues.flatMap((queue) => kinds.map((kind) => [queue, kind] as const))
  return () =>
    client.withDeadline(Date.now() + deadlineMs, () => Promise.all(all.map(([queue, kind]) => describe(queue, kind))))
}
