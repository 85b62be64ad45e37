import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import type { WorkflowControl } from '../../services/runs/sweep.ts'
import { callTemporal } from './call-temporal.ts'

export function createWorkflowControl(client: Client): WorkflowControl {
  return {
    stateOf: async (workflowId) => {
      try {
        const { status, closeTime } = await callTemporal(client, () => client.workflow.getHandle(workflowId).describe())
        if (status.name === 'RUNNING') return { status: 'running' }
        return { status: status.name === 'COMPLETED' ? 'completed' : 'broken_off', closedAt: closeTime }
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return { status: 'not_found' }
        throw error
      }
    },
    terminate: async (workflowId, reason) => {
      try {
        await callTemporal(client, () => client.workflow.getHandle(workflowId).terminate(reason))
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error
      }
    },
  }
}
