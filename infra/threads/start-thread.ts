import { Worker } from 'node:worker_threads'

/**
 * A thread for what others sent and what may take too long or too much memory: without the environment of the process,
 * and to be terminated at any time. `error` and then `exit` tell that it has ended.
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
