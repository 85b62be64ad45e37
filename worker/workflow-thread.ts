// Before a change: docs/traps.md, Temporal.
import { Worker } from '@temporalio/worker'
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js'
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js'

/**
 * Workflow code is called without a limit of time, for which Node would start and end a thread of its own with each
 * call: half of the processor time of workflows. The SDK declares a number, and passes on what it is given.
 */
const noTimeout = undefined as unknown as number

/**
 * A class of workers that execute their workflows in one shared thread. By default each worker evaluates the workflow
 * code and starts a thread of its own, which loads the SDK and evaluates the code again: 36 MB and half a second of
 * processor time for each queue. `activityNames` are those of all its workers, because workflows may only use local
 * activities that are known.
 */
export function workersWithSharedThread(activityNames: string[]): typeof Worker {
  let bundle: Promise<WorkflowBundleWithSourceMapAndFilename | undefined> | undefined
  let thread: Promise<WorkflowCreator> | undefined
  let users = 0

  return class extends Worker {
    protected static override getOrCreateBundle(...options: Parameters<typeof Worker.getOrCreateBundle>) {
      bundle ??= super.getOrCreateBundle(...options)
      return bundle
    }

    protected static override async createWorkflowCreator(
      ...[code, options, logger]: Parameters<typeof Worker.createWorkflowCreator>
    ): Promise<WorkflowCreator> {
      users++
      // Only the names are passed on to the thread.
      const activities = new Map(activityNames.map((name) => [name, async () => undefined]))
      const shared = { ...options, activities, isolateExecutionTimeoutMs: noTimeout }
      thread ??= super.createWorkflowCreator(code, shared, logger)
      const creator = await thread
      return {
        createWorkflow: (workflow) => creator.createWorkflow(workflow),
        async destroy() {
          users--
          if (users === 0) await creator.destroy()
        },
      }
    }
  }
}
