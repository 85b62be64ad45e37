import { NativeConnection, Runtime } from '@temporalio/worker'
import { createActivities } from '../activities/index.ts'
import { queues } from '../domain/contracts/queues.ts'
import type { Settings } from '../infra/config.ts'
import { createExtractor } from '../infra/extract/extractor.ts'
import { createLangSmithReceiver } from '../infra/feedback/langsmith.ts'
import { connectInfra } from '../infra/index.ts'
import { createSmtpMailer } from '../infra/mail/smtp-mailer.ts'
import type { Logger } from '../infra/logger.ts'
import { dataConverterFor } from '../infra/temporal/data-converter.ts'
import { connectionOptions } from '../infra/temporal/connect.ts'
import { ensureOrphanSchedule } from '../infra/temporal/orphan-schedule.ts'
import { registerSearchAttributes } from '../infra/temporal/register-search-attributes.ts'
import { createThreadActor } from '../infra/temporal/thread-actor.ts'
import { createDecisions } from '../services/runs/decisions.ts'
import { createRequeueForgotten } from '../services/runs/requeue-forgotten.ts'
import { createDerivedSecrets } from '../services/accounts/derived-secrets.ts'
import { createOrphans } from '../services/admin/orphans.ts'
import { createUserSelections } from '../services/admin/users.ts'
import { createDeletionService } from './create-deletion.ts'
import { createEngine } from './create-engine.ts'
import { every } from './every.ts'
import { createWorker } from './create-worker.ts'
import { temporalLogger } from './temporal-logger.ts'
import { workflowBundle } from './workflow-bundle.ts'

/** Connects, then serves the configured task queues until `close`. `finished` settles when all workers ended. Tests may wrap activities. */
export async function startWorker(
  settings: Settings,
  logger: Logger,
  { wrapActivities = (activities: object): object => activities } = {},
) {
  installRuntime(logger)
  const [infra, connection, bundle] = await Promise.all([
    connectInfra(settings, logger),
    NativeConnection.connect(connectionOptions(settings)),
    workflowBundle(dataConverterFor(settings)),
  ])
  await registerSearchAttributes(infra.temporal.client, settings.temporalNamespace)
  await ensureOrphanSchedule(infra.temporal.client, settings)
  const mailer = createSmtpMailer(settings)
  const extraction = createExtractor({
    memoryMb: settings.extractMemoryMb,
    timeoutSeconds: settings.extractTimeoutSeconds,
    concurrency: settings.extractConcurrency,
  })
  const engine = createEngine(settings, infra, logger)
  const activities = createActivities({
    collections: infra.database.collections,
    mailer,
    secrets: createDerivedSecrets(settings.secretsKey),
    frontendUrl: settings.frontendUrl,
    feedback: { collections: infra.database.collections, receiver: createLangSmithReceiver(settings) },
    engine,
    deletion: createDeletionService(infra, settings, logger),
    cleanup: {
      selections: createUserSelections(infra.database.collections),
      orphans: createOrphans({ ...infra.database, knowledge: infra.knowledge }),
    },
    documents: { collections: infra.database.collections, extraction, ...infra.knowledge },
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
  const actor = createThreadActor(infra.temporal.client, settings.taskQueuePrefix)
  const requeueForgotten = createRequeueForgotten({ collections: infra.database.collections, actor })
  const { finishAbandoned } = createDecisions({ ...engine, actor })
  const stopRequeuing = served.includes('runs')
    ? every(
        requeueEveryMs,
        () => Promise.all([requeueForgotten(), finishAbandoned()]),
        (error) => logger.warn({ err: error }, 'forgotten runs'),
      )
    : async () => {}
  return {
    queues: served,
    finished,
    close: async () => {
      await stopRequeuing()
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
      await finished.catch(() => undefined)
      mailer.close()
      await extraction.close()
      await connection.close()
      await infra.close()
    },
  }
}

const requeueEveryMs = 15_000

let runtimeInstalled = false

/** Temporal's runtime is one a process; signals stay with the process entry. */
export function installRuntime(logger: Logger): void {
  if (runtimeInstalled) return
  Runtime.install({ logger: temporalLogger(logger), shutdownSignals: [] })
  runtimeInstalled = true
}
