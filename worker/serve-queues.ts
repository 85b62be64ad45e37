import { setTimeout as pause } from 'node:timers/promises'
import { NativeConnection, TransportError, type Worker } from '@temporalio/worker'
import type { Platform } from '../composition/platform.ts'
import { type Queue, queues } from '../domain/contracts/workflow-contract.ts'
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import type { Metrics } from '../infra/metrics/create-metrics.ts'
import { connectionOptions } from '../infra/temporal/connect.ts'
import { dataConverterFor } from '../infra/temporal/data-converter.ts'
import { createWorker } from './create-worker.ts'
import { every } from './every.ts'
import { serveRuns } from './serve-runs.ts'
import { installRuntime, recordRuntimeMetrics } from './temporal-runtime.ts'
import { workersWithSharedThread } from './temporal-sdk/shared-thread.ts'
import { workflowBundle } from './temporal-sdk/workflow-bundle.ts'

/**
 * The connection and the workflow code of a process's workers. The runtime must be installed before the first
 * connection. With `stopped`, a server that is away is asked again until then; without it, the first failure is thrown.
 */
export async function prepareWorkers(
  settings: Settings,
  logger: Logger,
  metrics: Metrics | undefined,
  stopped?: AbortSignal,
) {
  const buffer = installRuntime(logger, metrics !== undefined)
  const [connection, bundle] = await Promise.all([
    connect(settings, logger, stopped),
    workflowBundle({ ...dataConverterFor(settings), callStacks: settings.workflowCallStacks }),
  ])
  return { connection, bundle, buffer }
}

const connectAgainMs = 1000

async function connect(settings: Settings, logger: Logger, stopped?: AbortSignal): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect(connectionOptions(settings))
    } catch (error) {
      if (stopped === undefined || !(error instanceof TransportError)) throw error
      logger.warn({ err: error }, 'the worker of this process waits for Temporal')
      await pause(connectAgainMs, undefined, { signal: stopped })
    }
  }
}

interface Round {
  /** Whose processes do it. */
  queue: Queue
  what: string
  everyMs: number
  round(): Promise<unknown>
}

/** What is repeated beside the workflows: work that a process which died has left, and what is due. */
function roundsOf({ retention, schedules, members, core, sources }: Platform): Round[] {
  return [
    { queue: 'deletions', what: 'the retention', everyMs: 60_000, round: () => retention() },
    { queue: 'schedules', what: 'the sweep of schedules', everyMs: 15_000, round: () => schedules.sweep() },
    {
      queue: 'accounts',
      what: 'the sweep of members who left',
      everyMs: 15_000,
      round: () => members.sweepDepartures(),
    },
    { queue: 'documents', what: 'the sweep of facts', everyMs: 30_000, round: () => core.memory.sweep() },
    { queue: 'crawls', what: 'the sweep of sources', everyMs: 15_000, round: () => sources.sweep() },
  ]
}

interface ServedQueues {
  settings: Settings
  logger: Logger
  metrics: Metrics | undefined
  platform: Platform
  prepared: Awaited<ReturnType<typeof prepareWorkers>>
  /** The activities of each queue that is served. */
  activities: Partial<Record<Queue, object>>
  /** Tests have one for many services of a process. */
  workerClass?: WorkerClassOf | undefined
}

/** The class of the workers that execute this workflow code, with local activities of these names. */
export type WorkerClassOf = (activityNames: string[], code: string) => typeof Worker

/**
 * One worker for each queue, and the other tasks of a process that serves runs. `stop` waits for what is under way,
 * within the limit of the settings.
 */
export async function serveQueues({
  settings,
  logger,
  metrics,
  platform,
  prepared,
  activities,
  workerClass = workersWithSharedThread,
}: ServedQueues) {
  const { connection, bundle, buffer } = prepared
  const served = queues.filter((queue) => activities[queue] !== undefined)
  const WorkerClass = workerClass(
    Object.values<object>(activities).flatMap((of) => Object.keys(of)),
    bundle.code,
  )
  const workers = await Promise.all(
    served.map((queue) =>
      createWorker({
        settings,
        connection,
        queue,
        activities: activities[queue] ?? {},
        workflowBundle: bundle,
        WorkerClass,
      }),
    ),
  )
  const finished = Promise.all(workers.map((worker) => worker.run()))
  // Callers may await `finished` later, so a failure before that must not count as unhandled.
  finished.catch(() => undefined)
  const stopServing = served.includes('runs') ? await serveRuns(platform, logger) : async () => {}
  const stopRounds = roundsOf(platform)
    .filter(({ queue }) => served.includes(queue))
    .map(({ what, everyMs, round }) =>
      every(everyMs, round, (error) => logger.warn({ err: error }, `a round of ${what} failed`)),
    )
  const recorded =
    metrics && buffer && recordRuntimeMetrics(metrics, buffer, settings, Object.values<object>(activities))
  return {
    finished,
    isHealthy: () => workers.every((worker) => worker.getState() === 'RUNNING'),
    updateMetrics: recorded?.update,
    stop: async () => {
      await Promise.all([stopServing(), ...stopRounds.map((stop) => stop())])
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
      await finished.catch(() => undefined)
      recorded?.stop()
      await connection.close()
    },
  }
}
