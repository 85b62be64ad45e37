import { type NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker'
import { type Queue, queueName } from '../domain/contracts/queues.ts'
import { documentActivities } from '../domain/knowledge/slots.ts'
import type { Settings } from '../infra/config.ts'
import { dataConverterFor } from '../infra/temporal/data-converter.ts'

export interface WorkerOptions {
  settings: Pick<
    Settings,
    | 'temporalNamespace'
    | 'temporalCodecKey'
    | 'temporalCodecKeyPrevious'
    | 'taskQueuePrefix'
    | 'shutdownGraceSeconds'
    | 'extractConcurrency'
  >
  connection: NativeConnection
  queue: Queue
  activities: object
  workflowBundle: WorkflowBundleOption
}

/**
 * A worker of one task queue. The limits are what makes a killed worker's work go on within seconds:
 * the sticky queue of a dead worker is given up after a second, and heartbeats are sent twice a
 * second, so that a cancellation reaches a silent activity soon.
 */
export function createWorker({
  settings,
  connection,
  queue,
  activities,
  workflowBundle,
}: WorkerOptions): Promise<Worker> {
  return Worker.create({
    connection,
    namespace: settings.temporalNamespace,
    taskQueue: queueName(queue, settings.taskQueuePrefix),
    workflowBundle,
    activities,
    dataConverter: dataConverterFor(settings),
    reuseV8Context: true,
    stickyQueueScheduleToStartTimeout: '1s',
    maxHeartbeatThrottleInterval: '500ms',
    defaultHeartbeatThrottleInterval: '500ms',
    maxConcurrentWorkflowTaskExecutions: 200,
    maxConcurrentActivityTaskExecutions: activitySlots(settings)[queue],
    maxCachedWorkflows: 500,
    shutdownGraceTime: `${settings.shutdownGraceSeconds}s`,
    shutdownForceTime: `${settings.shutdownGraceSeconds + 5}s`,
  })
}

/** How much runs at once in one process: model calls mostly wait, extraction of documents does not. */
function activitySlots({ extractConcurrency }: Pick<Settings, 'extractConcurrency'>): Record<Queue, number> {
  return { runs: 500, documents: documentActivities(extractConcurrency), accounts: 50, deletions: 20 }
}
