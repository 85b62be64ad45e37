// Before a change: docs/traps.md, Temporal.
import type { NativeConnection, Worker, WorkflowBundleOption } from '@temporalio/worker'
import { type Queue, queueName, versioningOf } from '../domain/contracts/workflow-contract.ts'
import { crawlActivities, documentActivities } from '../domain/knowledge/slots.ts'
import type { Settings } from '../infra/config.ts'
import { dataConverterFor } from '../infra/temporal/data-converter.ts'

interface WorkerOptions {
  settings: Pick<
    Settings,
    | 'temporalNamespace'
    | 'temporalCodecKey'
    | 'temporalCodecKeyPrevious'
    | 'taskQueuePrefix'
    | 'workerVersion'
    | 'shutdownGraceSeconds'
    | 'modelStepsAtOnce'
    | 'extractConcurrency'
  >
  connection: NativeConnection
  queue: Queue
  activities: object
  workflowBundle: WorkflowBundleOption
  /** The class of all workers of this process. */
  WorkerClass: typeof Worker
}

/**
 * A worker of one task queue. The limits let a killed worker's work continue within seconds: the sticky queue of a
 * dead worker is given up soon, and heartbeats are sent twice a second, so that a cancellation reaches a silent
 * activity soon.
 */
export function createWorker({
  settings,
  connection,
  queue,
  activities,
  workflowBundle,
  WorkerClass,
}: WorkerOptions): Promise<Worker> {
  return WorkerClass.create({
    connection,
    namespace: settings.temporalNamespace,
    taskQueue: queueName(queue, settings.taskQueuePrefix),
    workflowBundle,
    activities,
    dataConverter: dataConverterFor(settings),
    ...deploymentOf(settings, queue),
    reuseV8Context: true,
    stickyQueueScheduleToStartTimeout: stickyQueueTimeout,
    maxHeartbeatThrottleInterval: '500ms',
    defaultHeartbeatThrottleInterval: '500ms',
    // A workflow task lasts as long as its model step.
    maxConcurrentWorkflowTaskExecutions: workflowTasksBeside + (queue === 'runs' ? settings.modelStepsAtOnce : 0),
    // As many as there are workflow tasks: model steps wait in slots of our own, where users take turns.
    maxConcurrentLocalActivityExecutions: workflowTasksBeside + settings.modelStepsAtOnce,
    maxConcurrentActivityTaskExecutions: activitySlots(settings)[queue],
    maxCachedWorkflows: cachedWorkflowsBeside + (queue === 'runs' ? settings.modelStepsAtOnce : 0),
    shutdownGraceTime: `${settings.shutdownGraceSeconds}s`,
    shutdownForceTime: `${settings.shutdownGraceSeconds + 5}s`,
  })
}

/** How long a workflow task waits for the worker that has the workflow in its cache: a living one takes it at once. */
const stickyQueueTimeout = '1s'
const workflowTasksBeside = 200
const cachedWorkflowsBeside = 500

/** Concurrent activities per process: model calls mostly wait, extraction of documents does not. */
function activitySlots({ extractConcurrency }: Pick<Settings, 'extractConcurrency'>): Record<Queue, number> {
  return {
    runs: 500,
    documents: documentActivities(extractConcurrency),
    accounts: 50,
    deletions: 20,
    schedules: scheduledStarts,
    crawls: crawlActivities,
  }
}

/** Runs that schedules start at once: a thousand that are due in the same moment do not delay the runs of others. */
const scheduledStarts = 10

/** By queue and not by workflow: a server refuses the answers of an unversioned worker whose workflows name a behaviour. */
function deploymentOf({ workerVersion }: Pick<Settings, 'workerVersion'>, queue: Queue) {
  if (workerVersion === undefined) return {}
  const [deploymentName, buildId] = workerVersion
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true as const,
      defaultVersioningBehavior: versioningOf[queue],
    },
  }
}
