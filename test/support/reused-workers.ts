import type { Worker } from '@temporalio/worker'
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js'
import { workersWithSharedThread } from '../../worker/temporal-sdk/shared-thread.ts'

/**
 * Classes of workers whose workflow thread stays until `close`, for tests that start one worker after the other: a new
 * thread takes a third of a second of processor time. Workers of the same code with activities of the same names share
 * one.
 */
export function reusedWorkers() {
  const classes = new Map<string, typeof Worker>()
  const kept: Promise<WorkflowCreator>[] = []

  function keeping(activityNames: string[]): typeof Worker {
    let first: Promise<WorkflowCreator> | undefined
    return class extends workersWithSharedThread(activityNames) {
      protected static override async createWorkflowCreator(
        ...options: Parameters<typeof Worker.createWorkflowCreator>
      ): Promise<WorkflowCreator> {
        // The thread ends with its last user; this one stays.
        if (first === undefined) {
          first = super.createWorkflowCreator(...options)
          kept.push(first)
        }
        await first
        return super.createWorkflowCreator(...options)
      }
    }
  }

  return {
    classFor(activityNames: string[], code: string): typeof Worker {
      const names = activityNames.toSorted()
      const key = [...names, code].join()
      const found = classes.get(key) ?? keeping(names)
      classes.set(key, found)
      return found
    },
    async close(): Promise<void> {
      for (const creator of kept) await (await creator).destroy()
    },
  }
}
