import { NativeConnection, Runtime } from '@temporalio/worker'
import { createActivities } from '../activities/index.ts'
import { connectPlatform } from '../composition/platform.ts'
import { queues } from '../domain/contracts/queues.ts'
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import { connectionOptions } from '../infra/temporal/connect.ts'
import { dataConverterFor } from '../infra/temporal/data-converter.ts'
import { ensureOrphanSchedule } from '../infra/temporal/orphan-schedule.ts'
import { createWorker } from './create-worker.ts'
import { every } from './every.ts'
import { temporalLogger } from './temporal-logger.ts'
import { workflowBundle } from './workflow-bundle.ts'

/** Connects, then serves the configured task queues until `close`. `finished` settles when all workers ended. Tests may wrap activities. */
export async function startWorker(
  settings: Settings,
  logger: Logger,
  { wrapActivities = (activities: object): object => activities } = {},
) {
  installRuntime(logger)
  const [platform, connection, bundle] = await Promise.all([
    connectPlatform(settings, logger),
    NativeConnection.connect(connectionOptions(settings)),
    workflowBundle(dataConverterFor(settings)),
  ])
  const { core, infra, runs, deletion, knowledge } = platform
  await ensureOrphanSchedule(infra.temporal.client, settings)
  const { collections } = core
  const activities = createActivities({
    collections,
    mailer: core.mailer,
    secrets: core.derivedSecrets,
    frontendUrl: settings.frontendUrl,
    feedback: { collections, receiver: runs.feedbackReceiver },
    engine: runs.engine,
    deletion: deletion.deletion,
    cleanup: deletion,
    documents: { collections, extraction: knowledge.extraction, ...infra.knowledge },
  })
  const served = queues.filter((queue) => settings.workerQueues.includes(queue))
  if (served.length === 0) throw new Error(`WORKER_QUEUES names no task queue; known are ${queues.join(', ')}`)
  const workers = await Promise.all(
    served.map((queue) =>
      createWorker({
        settings,
        connection,
        queue,
        activities: wrapActivities(activities[queue]),
        workflowBundle: bundle,
      }),
    ),
  )
  const finished = Promise.all(workers.map((worker) => worker.run()))
  const stopSweeping = served.includes('runs')
    ? every(
        sweepEveryMs,
        () => runs.sweepRuns(),
        (error) => logger.warn({ err: error }, 'the sweep of open runs failed'),
      )
    : async () => {}
  return {
    queues: served,
    finished,
    platform,
    close: async () => {
      await stopSweeping()
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
      await finished.catch(() => undefined)
      await connection.close()
      await platform.close()
    },
  }
}

const sweepEveryMs = 15_000

let runtimeInstalled = false

/** Temporal's runtime is one a process; signals stay with the process entry. */
export function installRuntime(logger: Logger): void {
  if (runtimeInstalled) return
  Runtime.install({ logger: temporalLogger(logger), shutdownSignals: [] })
  runtimeInstalled = true
}
