// The types of the requests are the SDK's own.
/* oxlint-disable typescript/no-unsafe-argument, typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access */
// The workflow thread: the SDK's own script, which executes requests one after the other. Before each, this notes whose
// it is, so that the process can tell which workflow does not return. The SDK's script listens second, so that the note
// comes first; as an ES module, its import would be evaluated before this listener.
const { parentPort, workerData } = require('node:worker_threads')
const { begun, runIdNoted } = workerData

parentPort.on('message', ({ input }) => {
  runIdNoted.fill(0)
  new TextEncoder().encodeInto(input.runId ?? input.options?.info.runId ?? '', runIdNoted)
  Atomics.add(begun, 0, 1)
})

require('@temporalio/worker/lib/workflow/workflow-worker-thread.js')
