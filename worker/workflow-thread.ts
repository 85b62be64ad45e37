import { Worker } from '@temporalio/worker'
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js'
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js'

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
      const known = new Map(activityNames.map((name) => [name, async () => undefined]))
      thread ??= super.createWorkflowCreator(code, { ...options, activities: known }, logger)
      const shared = await thread
      return {
        createWorkflow: (workflow) => shared.createWorkflow(workflow),
        async destroy() {
          users--
          if (users === 0) await shared.destroy()
        },
      }
    }
  }
}
