import type { Client } from '@temporalio/client'
import proto from '@temporalio/proto'
import { type Queue, queueName, queues } from '../../domain/contracts/queues.ts'
import type { Settings } from '../config.ts'
import { aliveForMs } from './queue-pollers.ts'

export interface QueueStatus {
  queue: Queue
  kind: 'workflow' | 'activity'
  /** Processes that have asked for work lately. */
  pollers: number
  /** Tasks that wait for a worker, and since when the oldest does. Absent where the server does not tell (before 1.25). */
  backlog?: number
  backlogAgeSeconds?: number
}

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType
const kinds = [
  ['workflow', TASK_QUEUE_TYPE_WORKFLOW],
  ['activity', TASK_QUEUE_TYPE_ACTIVITY],
] as const
const deadlineMs = 3_000

/** What waits in every task queue, and who serves it. */
export function createQueueStatus(
  client: Client,
  { temporalNamespace: namespace, taskQueuePrefix }: Pick<Settings, 'temporalNamespace' | 'taskQueuePrefix'>,
): () => Promise<QueueStatus[]> {
  async function describe(queue: Queue, [kind, taskQueueType]: (typeof kinds)[number]): Promise<QueueStatus> {
    const { pollers, stats } = await client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queueName(queue, taskQueuePrefix) },
      taskQueueType,
      reportStats: true,
    })
    const isAlive = (seconds: number) => Date.now() - seconds * 1000 < aliveForMs
    const alive = pollers.filter(({ lastAccessTime }) => isAlive(Number(lastAccessTime?.seconds ?? 0)))
    const { approximateBacklogCount: count, approximateBacklogAge: age } = stats ?? {}
    return {
      queue,
      kind,
      pollers: new Set(alive.map(({ identity }) => identity)).size,
      ...(stats ? { backlog: Number(count ?? 0), backlogAgeSeconds: Number(age?.seconds ?? 0) } : {}),
    }
  }
  const all = queues.flatMap((queue) => kinds.map((kind) => [queue, kind] as const))
  return () =>
    client.withDeadline(Date.now() + deadlineMs, () => Promise.all(all.map(([queue, kind]) => describe(queue, kind))))
}
