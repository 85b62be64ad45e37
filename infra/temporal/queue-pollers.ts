import type { Client } from '@temporalio/client'
import proto from '@temporalio/proto'
import type { Settings } from '../config.ts'
import { AppError } from '../../domain/errors.ts'
import { queueName, queues } from '../../domain/contracts/queues.ts'

/**
 * The server remembers a worker for five minutes after its last poll, and a poll waits at most a minute: a worker
 * without a poll for longer is gone.
 */
export const aliveForMs = 75_000
/** How long a result is cached, so that health checks put no load on the server. */
const polledMs = 10_000
const unpolledMs = 1_000

/** Throws `unavailable`, with the names of the task queues that no worker polls, if there are any. */
export function createPollerCheck(
  client: Client,
  { temporalNamespace: namespace, taskQueuePrefix }: Pick<Settings, 'temporalNamespace' | 'taskQueuePrefix'>,
): () => Promise<void> {
  const isPolled = async (queue: (typeof queues)[number]): Promise<boolean> => {
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queueName(queue, taskQueuePrefix) },
      taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    })
    return pollers.some(({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000 < aliveForMs)
  }
  const look = async () => {
    const polled = await client.withDeadline(Date.now() + 1_000, () => Promise.all(queues.map(isPolled)))
    return queues.filter((_, index) => !polled[index])
  }

  let latest: { unpolled: Promise<readonly string[]>; until: number } | undefined
  return async () => {
    if (!latest || latest.until < Date.now()) {
      const found = { unpolled: look(), until: Date.now() + polledMs }
      latest = found
      found.unpolled.then(
        (unpolled) => (found.until = Date.now() + (unpolled.length === 0 ? polledMs : unpolledMs)),
        () => (found.until = 0),
      )
    }
    const unpolled = await latest.unpolled
    if (unpolled.length > 0) throw new AppError('unavailable', `no worker polls ${unpolled.join(', ')}`)
  }
}
