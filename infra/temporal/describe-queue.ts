import type { Client } from '@temporalio/client'
import proto from '@temporalio/proto'
import { LRUCache } from 'lru-cache'
import { type Queue, queueName, queues } from '../../domain/contracts/workflow-contract.ts'
import { AppError } from '../../domain/errors.ts'
import type { Settings } from '../config.ts'

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType
const types = { workflow: TASK_QUEUE_TYPE_WORKFLOW, activity: TASK_QUEUE_TYPE_ACTIVITY } as const
export type TaskKind = keyof typeof types

/**
 * The server remembers a worker for five minutes after its last poll, and a poll waits at most a minute: a worker
 * without a poll for longer is gone.
 */
const aliveForMs = 75_000

/** The workers that poll a task queue now, and what waits in it if that is asked for (server 1.25 or newer). */
async function describeQueue(
  { workflowService }: Pick<Client, 'workflowService'>,
  { temporalNamespace: namespace, taskQueuePrefix }: Pick<Settings, 'temporalNamespace' | 'taskQueuePrefix'>,
  { queue, kind, withStats = false }: { queue: Queue; kind: TaskKind; withStats?: boolean },
) {
  const { pollers, stats } = await workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: queueName(queue, taskQueuePrefix) },
    taskQueueType: types[kind],
    reportStats: withStats,
  })
  const isAlive = (seconds: number) => Date.now() - seconds * 1000 < aliveForMs
  return { pollers: pollers.filter(({ lastAccessTime }) => isAlive(Number(lastAccessTime?.seconds ?? 0))), stats }
}

/** How long a result is cached, so that health checks put no load on the server. */
const polledMs = 10_000
const unpolledMs = 1_000

/** Throws `unavailable`, with the names of the task queues that no worker polls, if there are any. */
export function createPollerCheck(
  client: Client,
  settings: Pick<Settings, 'temporalNamespace' | 'taskQueuePrefix'>,
): () => Promise<void> {
  const isPolled = async (queue: Queue): Promise<boolean> =>
    (await describeQueue(client, settings, { queue, kind: 'workflow' })).pollers.length > 0
  const look = async () => {
    const polled = await client.withDeadline(Date.now() + 1_000, () => Promise.all(queues.map(isPolled)))
    return queues.filter((_, index) => !polled[index])
  }

  const unpolled = new LRUCache<'queues', Queue[]>({
    max: 1,
    ttl: polledMs,
    fetchMethod: async (_key, _earlier, { options }) => {
      const found = await look()
      if (found.length > 0) options.ttl = unpolledMs
      return found
    },
  })
  return async () => {
    const found = await unpolled.forceFetch('queues')
    if (found.length > 0) throw new AppError('unavailable', `no worker polls ${found.join(', ')}`)
  }
}

interface QueueStatus {
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
