import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Client } from '@temporalio/client'
import { NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { drive } from '../load.ts'

/**
 * The bare workflow with the limits of our own workers, started eagerly by the process that works on it, as an API
 * process with `RUNS_IN_API` does. `GET /?at_once=16&ms=3000&tools=0` executes it that many at once for that long,
 * and returns how often and how fast that was.
 */
Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} }, shutdownSignals: [] })
const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] })
const worker = await Worker.create({
  connection,
  taskQueue: 'bench-bare',
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  activities: { nothing: async () => {} },
  reuseV8Context: true,
  maxConcurrentWorkflowTaskExecutions: 232,
  maxConcurrentActivityTaskExecutions: 500,
})
const client = new Client({ connection })
const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://bare')
  const number = (name: string) => Number(searchParams.get(name))
  const once = async () => {
    const startedAt = performance.now()
    await client.workflow.execute('bareWorkflow', {
      taskQueue: 'bench-bare',
      workflowId: crypto.randomUUID(),
      args: [number('tools')],
      requestEagerStart: true,
    })
    const elapsed = performance.now() - startedAt
    return { first: elapsed, whole: elapsed }
  }
  void drive(once, { atOnce: number('at_once'), ms: number('ms') }).then((result) =>
    response.end(JSON.stringify(result)),
  )
})
const running = worker.run()
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }))
})
process.once('SIGTERM', () => worker.shutdown())
await running
server.close()
server.closeAllConnections()
await connection.close()
