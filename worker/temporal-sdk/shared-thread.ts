// Before a change: README.md of this folder.
import { type Logger, Worker } from '@temporalio/worker'
import type { WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js'
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js'
import { LRUCache } from 'lru-cache'
import { type ThreadEnd, type WorkflowThread, startWorkflowThread } from './workflow-thread.ts'

/**
 * A class of workers that execute their workflows in one shared thread. By default each worker evaluates the workflow
 * code and starts a thread of its own, which loads the SDK and evaluates the code again: 36 MB and half a second of
 * processor time for each queue. `activityNames` are those of all its workers, because workflows may only use local
 * activities that are known.
 */
export function workersWithSharedThread(activityNames: string[]): typeof Worker {
  let bundle: Promise<WorkflowBundleWithSourceMapAndFilename | undefined> | undefined
  let shared: ReturnType<typeof keepThread> | undefined
  let users = 0

  return class extends Worker {
    protected static override getOrCreateBundle(...options: Parameters<typeof Worker.getOrCreateBundle>) {
      bundle ??= super.getOrCreateBundle(...options)
      return bundle
    }

    protected static override async createWorkflowCreator(
      ...[code, , logger]: Parameters<typeof Worker.createWorkflowCreator>
    ): Promise<WorkflowCreator> {
      users++
      shared ??= keepThread(code, activityNames, logger)
      const { thread, createWorkflow, close } = shared
      await thread()
      return {
        createWorkflow,
        async destroy() {
          users--
          if (users === 0) await close()
        },
      }
    }
  }
}

/** How often a run may loop in one process before it is refused there: its history leads it into the same loop again. */
const maxLoops = 2
const rememberedRuns = 1000

/** A workflow thread that is replaced when it ends. */
function keepThread(bundle: WorkflowBundleWithSourceMapAndFilename, activityNames: string[], logger: Logger) {
  const loopsOf = new LRUCache<string, number>({ max: rememberedRuns })
  let current: Promise<WorkflowThread> | undefined
  let isClosed = false

  function thread(): Promise<WorkflowThread> {
    if (current) return current
    const starting = startWorkflowThread({ bundle, activityNames, logger, onEnd })
    current = starting
    // Callers that wait for this start get its failure; the next caller starts it again.
    starting.catch(() => {
      if (current === starting) current = undefined
    })
    return starting
  }

  function onEnd({ runId, isLoop, reason }: ThreadEnd): void {
    if (isLoop) loopsOf.set(runId, (loopsOf.get(runId) ?? 0) + 1)
    if (isClosed) return
    logger.error('the workflow thread ended and is started anew', { runId, reason })
    current = undefined
    void thread()
  }

  return {
    thread,
    createWorkflow: async (options: WorkflowCreateOptions) => {
      if ((loopsOf.get(options.info.runId) ?? 0) >= maxLoops)
        throw new Error(
          `The code of this workflow did not return ${maxLoops} times in this process, which refuses it until it is restarted.`,
        )
      return (await thread()).createWorkflow(options)
    },
    async close(): Promise<void> {
      isClosed = true
      const last = await current?.catch(() => undefined)
      await last?.close()
    },
  }
}
