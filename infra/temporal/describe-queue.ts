import type { Client } from '@temporalio/client'
import proto from '@temporalio/proto'
import { type Queue, queueName } from '../../domain/contracts/workflow-contract.ts'
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
export async function describeQueue(
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
