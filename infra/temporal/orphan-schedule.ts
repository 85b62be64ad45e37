import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client'
import { cleanupContract } from '../../domain/contracts/cleanup.ts'
import { queueName, startOptions } from '../../domain/contracts/workflow-contract.ts'

export function orphanScheduleId(taskQueuePrefix: string): string {
  return `${taskQueuePrefix}orphan-sweep`
}

/** An unreachable server must not delay the start for ever. */
const limitMs = 30_000

interface ScheduleSettings {
  orphanSweepCron: string | undefined
  taskQueuePrefix: string
}

/**
 * Creates, updates or removes the schedule of the orphan sweep, according to the settings (a cron expression in
 * UTC, or none). Safe to repeat, and to run in several processes at once.
 */
export function ensureOrphanSchedule(client: Client, settings: ScheduleSettings): Promise<void> {
  return client.withDeadline(Date.now() + limitMs, () => ensure(client, settings))
}

async function ensure(client: Client, { orphanSweepCron, taskQueuePrefix }: ScheduleSettings): Promise<void> {
  const scheduleId = orphanScheduleId(taskQueuePrefix)
  const handle = client.schedule.getHandle(scheduleId)
  if (orphanSweepCron === undefined) {
    await handle.delete().catch((error: unknown) => {
      if (!(error instanceof ScheduleNotFoundError)) throw error
    })
    return
  }
  const spec = { cronExpressions: [orphanSweepCron] }
  const action = {
    type: 'startWorkflow',
    workflowType: cleanupContract.type.name,
    taskQueue: queueName(cleanupContract.queue, taskQueuePrefix),
    // Temporal appends the time to the id.
    ...startOptions(cleanupContract, { kind: 'orphans', dryRun: false, cleanupId: `${taskQueuePrefix}nightly` }),
  } as const
  const policies = { overlap: ScheduleOverlapPolicy.SKIP }
  try {
    await client.schedule.create({ scheduleId, spec, action, policies })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    await handle.update((current) => ({ ...current, spec, action, policies: { ...current.policies, ...policies } }))
  }
}
