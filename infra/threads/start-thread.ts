// Before a change: docs/traps.md, Libraries.
import { Worker } from 'node:worker_threads'

/**
 * Starts a thread for work on foreign data, which may take too long or too much memory. It does not see the environment
 * of the process, and may be terminated at any time. `error` and then `exit` report that it has ended.
 */
export function startThread(
  file: URL,
  { name, memoryMb, data }: { name: string; memoryMb: number; data?: unknown },
): Worker {
  const thread = new Worker(file, {
    name,
    workerData: data,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16 },
  })
  // Without a listener the error would end the process.
  thread.on('error', () => undefined)
  return thread
}
