import type { Client } from '@temporalio/client'
import { LRUCache } from 'lru-cache'
import { type Queue, queues } from '../../domain/contracts/workflow-contract.ts'
import { AppError } from '../../domain/errors.ts'
import type { Settings } from '../config.ts'
import { describeQueue } from './describe-queue.ts'

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
