import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client'
import { type CleanupInput, cleanupWorkflowType } from '../../domain/contracts/cleanup.ts'
import { queueName } from '../../domain/contracts/queues.ts'
import { describeCleanup } from './cleanup-workflows.ts'

export function orphanScheduleId(taskQueuePrefix: string): string {
  return `${taskQueuePrefix}orphan-sweep`
}

/**
 * Makes the schedule of the orphan sweep what the settings say: there with this cron expression (UTC),
 * or not there. Safe to repeat and to race.
 */
export async function ensureOrphanSchedule(
  client: Client,
  { orphanSweepCron, taskQueuePrefix }: { orphanSweepCron: string | undefined; taskQueuePrefix: string },
): Promise<void> {
  const scheduleId = orphanScheduleId(taskQueuePrefix)
  const handle = client.schedule.getHandle(scheduleId)
  if (orphanSweepCron === undefined) {
    await handle.delete().catch((error: unknown) => {
      if (!(error instanceof ScheduleNotFoundError)) throw error
    })
    return
  }
  const input: CleanupInput = { kind: 'orphans', dryRun: false }
  const spec = { cronExpressions: [orphanSweepCron] }
  const action = {
    type: 'startWorkflow',
    workflowType: cleanupWorkflowType,
    // Temporal adds the time.
    workflowId: `cleanup/orphans/${taskQueuePrefix}`,
    taskQueue: queueName('accounts', taskQueuePrefix),
    args: [input] as [CleanupInput],
    ...describeCleanup(input),
  } as const
  const policies = { overlap: ScheduleOverlapPolicy.SKIP }
  try {
    await client.schedule.create({ scheduleId, spec, action, policies })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    await handle.update((current) => ({ ...current, spec, action, policies: { ...current.policies, ...policies } }))
  }
}
