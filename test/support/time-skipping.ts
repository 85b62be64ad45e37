import { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import { inject } from 'vitest'
import { searchAttributeNames } from '../../domain/contracts/search-attributes.ts'
import { createLogger } from '../../infra/logger.ts'
import { installRuntime } from '../../worker/temporal-runtime.ts'
import { workflowBundle } from '../../worker/workflow-bundle.ts'

/** `INDEXED_VALUE_TYPE_KEYWORD` */
const keyword = 2

/** The server that skips time whenever a workflow only waits, and workers on it. One a test file. */
export async function startTimeSkipping() {
  installRuntime(createLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent'))
  const env = await startServer()
  // This server can add search attributes, but not list them.
  await env.client.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(searchAttributeNames.map((name) => [name, keyword])),
  })
  return {
    client: env.client,
    /** Lets workflow time pass. */
    sleep: (ms: number) => env.sleep(ms),
    /** The workflows' time, in milliseconds. */
    now: () => env.currentTimeMs(),
    /** Does `work` with a worker that serves `taskQueue` with these activities. */
    async withWorker<T>(taskQueue: string, activities: object, work: () => Promise<T>): Promise<T> {
      const worker = await Worker.create({
        connection: env.nativeConnection,
        taskQueue,
        activities,
        workflowBundle: await workflowBundle(),
      })
      return worker.runUntil(work)
    },
    close: () => env.teardown(),
  }
}

/** The SDK waits five seconds for the server, which are too few when other tests use all processors. */
async function startServer(attemptsLeft = 3): Promise<TestWorkflowEnvironment> {
  try {
    return await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: inject('services').timeSkippingPath } },
    })
  } catch (error) {
    const isLate = error instanceof Error && error.message.includes('did not start within')
    if (!isLate || attemptsLeft === 0) throw error
    return startServer(attemptsLeft - 1)
  }
}
