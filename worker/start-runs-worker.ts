import { NativeConnection } from '@temporalio/worker'
import { createRunActivities } from '../activities/runs/index.ts'
import type { Platform } from '../composition/platform.ts'
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import { connectionOptions } from '../infra/temporal/connect.ts'
import { dataConverterFor } from '../infra/temporal/data-converter.ts'
import { createWorker } from './create-worker.ts'
import { serveRuns } from './serve-runs.ts'
import { installRuntime } from './start-worker.ts'
import { workflowBundle } from './workflow-bundle.ts'

/**
 * The worker of the queue `runs` in an API process. Its connection is also the one by which the process
 * starts threads: the server gives the first task of a thread to this worker with its answer.
 */
export async function prepareRunsWorker(settings: Settings, logger: Logger) {
  installRuntime(logger)
  const [connection, bundle] = await Promise.all([
    NativeConnection.connect(connectionOptions(settings)),
    workflowBundle(dataConverterFor(settings)),
  ])
  return {
    connection,
    close: () => connection.close(),
    async start(platform: Platform) {
      const worker = await createWorker({
        settings,
        connection,
        queue: 'runs',
        activities: createRunActivities(platform.runs.engine),
        workflowBundle: bundle,
      })
      const finished = worker.run()
      const stopServing = await serveRuns(platform, logger)
      return {
        finished,
        /** Waits for what is under way, for as long as the settings allow. */
        stop: async () => {
          await stopServing()
          if (worker.getState() === 'RUNNING') worker.shutdown()
          await finished.catch(() => undefined)
        },
      }
    },
  }
}
