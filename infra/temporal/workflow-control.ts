import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import type { WorkflowControl } from '../../services/deletion/stop-runs.ts'

export function createWorkflowControl(client: Client): WorkflowControl {
  return {
    isRunning: (workflowId) =>
      ifThere(false, async () => (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING'),
    terminate: (workflowId, reason) =>
      ifThere(undefined, async () => {
        await client.workflow.getHandle(workflowId).terminate(reason)
      }),
  }
}

async function ifThere<T>(otherwise: T, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return otherwise
    throw error
  }
}
