import { fileURLToPath } from 'node:url'
import { NativeConnection, Runtime, Worker } from '@temporalio/worker'

/** Serves the empty workflow with the limits of our own workers, in a process of its own. */
Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} }, shutdownSignals: [] })
const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] })
const worker = await Worker.create({
  connection,
  taskQueue: 'bench-empty',
  workflowsPath: fileURLToPath(new URL('workflow.ts', import.meta.url)),
  activities: { nothing: async () => {} },
  reuseV8Context: true,
  maxConcurrentWorkflowTaskExecutions: 200,
  maxConcurrentActivityTaskExecutions: 500,
})
process.once('SIGTERM', () => worker.shutdown())
console.log(JSON.stringify({ ready: true }))
await worker.run()
await connection.close()
