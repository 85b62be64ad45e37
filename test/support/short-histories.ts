import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import { createLogger } from '../../infra/logger.ts'
import { prepareTemporal, startTemporal } from '../../local/services/temporal.ts'
import { installRuntime } from '../../worker/temporal-runtime.ts'
import { workflowBundle } from '../../worker/temporal-sdk/workflow-bundle.ts'
import { reusedWorkers } from './reused-workers.ts'

/** A real Temporal server of its own that suggests to continue as new after `events` events. */
export async function startShortHistories(events: number) {
  installRuntime(createLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent'))
  const dataDir = await mkdtemp(join(tmpdir(), 'assistant-temporal-'))
  const { value: executable } = await prepareTemporal(() => undefined)
  const server = await startTemporal({
    executable,
    dataDir,
    dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': events },
  })
  const [connection, native] = await Promise.all([
    Connection.connect({ address: server.address }),
    NativeConnection.connect({ address: server.address }),
  ])
  const client = new Client({ connection })
  const workers = reusedWorkers()
  return {
    client,
    /** Does `work` with a worker that has these activities, on a task queue of its own. */
    async withWorker<T>(activities: object, work: (taskQueue: string) => Promise<T>): Promise<T> {
      const taskQueue = randomUUID()
      const bundle = await workflowBundle()
      const worker = await workers.classFor(Object.keys(activities), bundle.code).create({
        connection: native,
        taskQueue,
        activities,
        workflowBundle: bundle,
      })
      return worker.runUntil(() => work(taskQueue))
    },
    /** How many executions a workflow has had, one continued from the other. */
    async executions(workflowId: string): Promise<number> {
      let count = 1
      let { events: first } = await client.workflow.getHandle(workflowId).fetchHistory()
      for (;;) {
        const before = first?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId
        if (!before) return count
        count += 1
        const history = await client.workflow.getHandle(workflowId, before).fetchHistory()
        first = history.events
      }
    },
    async close() {
      await workers.close()
      await connection.close()
      await native.close()
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
