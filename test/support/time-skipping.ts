// Before a change: docs/traps.md, Temporal, and worker/temporal-sdk/README.md.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { inject } from 'vitest'
import { searchAttributeNames } from '../../domain/contracts/search-attribute-names.ts'
import { createLogger } from '../../infra/logger.ts'
import { accepts, freePort } from '../../local/services/ports.ts'
import { startServerProcess } from '../../local/services/server-process.ts'
import { installRuntime } from '../../worker/temporal-runtime.ts'
import { workflowBundle } from '../../worker/temporal-sdk/workflow-bundle.ts'
import { reusedWorkers } from './reused-workers.ts'

/** `INDEXED_VALUE_TYPE_KEYWORD` */
const keyword = 2

/** The server that skips time whenever a workflow only waits, and workers on it. One a test file. */
export async function startTimeSkipping() {
  installRuntime(createLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent'))
  const { env, stop } = await startServer()
  const workers = reusedWorkers()
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
    async withWorker<T>(
      taskQueue: string,
      activities: object,
      work: () => Promise<T>,
      bundle: Promise<WorkflowBundleWithSourceMap> = workflowBundle(),
    ): Promise<T> {
      const code = await bundle
      const worker = await workers.classFor(Object.keys(activities), code.code).create({
        connection: env.nativeConnection,
        taskQueue,
        activities,
        workflowBundle: code,
        // As in production. Otherwise a step reports every four seconds, misses its five on a busy machine, and this
        // server, unlike the real one, forgets on the next attempt that the step was to be cancelled.
        maxHeartbeatThrottleInterval: '500ms',
        defaultHeartbeatThrottleInterval: '500ms',
      })
      return worker.runUntil(work)
    },
    close: async () => {
      await workers.close()
      await stop()
    },
  }
}

/**
 * The SDK itself waits five seconds for a server that it starts, which are too few when other tests use all
 * processors. Its function for a server that runs already does not skip time; the one behind it is private.
 */
async function startServer(): Promise<{ env: TestWorkflowEnvironment; stop: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assistant-time-skipping-'))
  const port = await freePort()
  const server = await startServerProcess({
    name: 'the time-skipping server',
    command: inject('services').timeSkippingPath,
    // Time passes by itself until a client waits for a workflow.
    args: [String(port)],
    cwd: folder,
    logFile: path.join(folder, 'log'),
    ready: () => accepts(port),
    readyLimitMs: 100_000,
  })
  const env: TestWorkflowEnvironment = await TestWorkflowEnvironment['create']({
    server: { type: 'existing' },
    address: `127.0.0.1:${port}`,
    supportsTimeSkipping: true,
    namespace: 'default',
  })
  const stop = async () => {
    await env.teardown()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return { env, stop }
}
