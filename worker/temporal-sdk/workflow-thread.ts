import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker as Thread } from 'node:worker_threads'
import type { Logger } from '@temporalio/worker'
import type { Workflow, WorkflowCreateOptions } from '@temporalio/worker/lib/workflow/interface.js'
import { VMWorkflowThreadProxy, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm.js'
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js'

// Before a change: README.md of this folder, and docs/traps.md, Temporal.

/**
 * Workflow code is called without a limit of time, for which Node would start and end a thread of its own with each
 * call: half of the processor time of workflows. The SDK declares a number, and passes on what it is given.
 */
export const noTimeout = undefined as unknown as number

const script = fileURLToPath(new URL('thread.cjs', import.meta.url))

interface ThreadOptions {
  bundle: WorkflowBundleWithSourceMapAndFilename
  activityNames: string[]
  logger: Logger
  /** Called when the thread ends after it was ready. */
  onEnd: (end: ThreadEnd) => void
}

export interface ThreadEnd {
  /** The run whose code it executed last. */
  runId: string
  /** The code did not return, or took all memory: it would do so again. */
  isLoop: boolean
  reason: string
}

export type WorkflowThread = Awaited<ReturnType<typeof startWorkflowThread>>

/**
 * A thread that executes workflows. It is ended when it spends a second of processor time on one request; what it was
 * asked, and what it is asked from then on, fails. The error is not one of those for which the SDK ends the worker:
 * Temporal fails the workflow task, and gives out the next one with the history.
 */
export async function startWorkflowThread({ bundle, activityNames, logger, onEnd }: ThreadOptions) {
  const begun = new Int32Array(new SharedArrayBuffer(4))
  const runIdNoted = new Uint8Array(new SharedArrayBuffer(64))
  const thread = new Thread(script, { name: 'workflows', workerData: { begun, runIdNoted } })
  const exited = once(thread, 'exit').catch(() => undefined)
  let isReady = false
  let ended: ThreadEnd | undefined

  function end(isLoop: boolean, reason: string): void {
    if (ended) return
    const runId = Buffer.from(runIdNoted).toString('utf8').replaceAll('\0', '')
    ended = { runId, isLoop, reason }
    if (isReady) onEnd(ended)
    void thread.terminate()
  }
  // They are called before those of the SDK's client, which rejects all requests.
  thread.on('error', (error: unknown) => end(isOutOfMemory(error), `failed with "${String(error)}"`))
  thread.on('exit', () => end(false, 'ended its thread'))
  const client = new WorkerThreadClient(thread, logger)
  const watch = watchThread(thread, begun, () => end(true, 'did not return for a second of processor time'))

  async function ask<T>(runId: string, request: () => Promise<T>): Promise<T> {
    if (ended) throw errorFor(runId, ended)
    const answered = watch()
    try {
      return await request()
    } catch (error) {
      throw ended ? errorFor(runId, ended) : error
    } finally {
      answered()
    }
  }

  await client.send({
    type: 'init',
    workflowBundle: bundle,
    isolateExecutionTimeoutMs: noTimeout,
    reuseV8Context: true,
    registeredActivityNames: new Set(activityNames),
    hasPatchActivationCallback: false,
  })
  isReady = true

  return {
    async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
      const { runId } = options.info
      const workflow = await ask(runId, () => VMWorkflowThreadProxy.create(client, options))
      return {
        activate: (activation) => ask(runId, () => workflow.activate(activation)),
        // The SDK also asks for log lines after a failure. Those of an ended thread are lost.
        getAndResetSinkCalls: () =>
          ask(runId, () => workflow.getAndResetSinkCalls()).catch((error: unknown) => {
            if (ended) return []
            throw error
          }),
        dispose: () => ask(runId, () => workflow.dispose()).catch(() => undefined),
      }
    },
    async close(): Promise<void> {
      await ask('', () => client.destroy()).catch((error: unknown) => {
        if (!ended) throw error
      })
      await exited
    },
  }
}

function errorFor(runId: string, { runId: culprit, reason }: ThreadEnd): Error {
  return new Error(
    runId === culprit
      ? `The code of this workflow ${reason}, so its thread was ended. Look for a loop that never ends.`
      : `The thread of this workflow was ended, because the code of run ${culprit} ${reason}. This task is repeated.`,
  )
}

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

/**
 * The processor time of one request. It is far more than what the slowest takes, and with the pauses between two looks
 * less than the shortest timeout of a workflow task (2 s), so that the failure still reaches the workflow's history.
 */
const limitMs = 1000
const pollEveryMs = 200

/**
 * Calls `onLoop` when the thread spends more than the limit on one request. Time that only passes does not count: on a
 * busy machine, or while the process is suspended, a request takes long without a loop. `begun` counts the requests that
 * the thread has begun. The returned function is called with each request, and what it returns when that is answered:
 * without one under way, nobody looks.
 */
function watchThread(thread: Thread, begun: Int32Array, onLoop: () => void): () => () => void {
  let underWay = 0
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let seen = -1
  let spentBefore: number | undefined

  async function look(): Promise<void> {
    const count = Atomics.load(begun, 0)
    if (count !== seen) {
      seen = count
      spentBefore = undefined
      return
    }
    const spent = await processorMs(thread)
    if (Atomics.load(begun, 0) !== count) return
    spentBefore ??= spent
    if (spent - spentBefore >= limitMs) onLoop()
  }

  function tick(): void {
    if (isLooking) return
    isLooking = true
    // A thread that has just ended has no processor time.
    look()
      .catch(() => undefined)
      .finally(() => (isLooking = false))
  }

  return () => {
    underWay++
    timer ??= setInterval(tick, pollEveryMs).unref()
    return () => {
      underWay--
      if (underWay > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }
}

async function processorMs(thread: Thread): Promise<number> {
  const { user, system } = await thread.cpuUsage()
  return (user + system) / 1000
}
