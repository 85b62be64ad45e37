import type { Client } from '@temporalio/client'
import {
  type CleanupInput,
  type CleanupResult,
  cleanupWorkflowId,
  cleanupWorkflowType,
} from '../../domain/contracts/cleanup.ts'
import { queueName } from '../../domain/contracts/queues.ts'
import type { CleanupWorkflows } from '../../services/admin/cleanup-workflows.ts'
import { callTemporal } from './call-temporal.ts'

export function createCleanupWorkflows(
  client: Client,
  { taskQueuePrefix, waitMs }: { taskQueuePrefix: string; waitMs: number },
): CleanupWorkflows {
  return {
    async start(input) {
      const workflowId = `${cleanupWorkflowId(input.kind, new Date())}${taskQueuePrefix && `/${taskQueuePrefix}`}`
      await callTemporal(client, () =>
        client.workflow.start<(input: CleanupInput) => Promise<CleanupResult>>(cleanupWorkflowType, {
          workflowId,
          taskQueue: queueName('accounts', taskQueuePrefix),
          args: [input],
          ...describeCleanup(input),
        }),
      )
      return { workflowId }
    },

    async resultOf(workflowId) {
      const waiting = new AbortController()
      const timer = setTimeout(() => waiting.abort(), waitMs)
      try {
        const handle = client.workflow.getHandle<(input: CleanupInput) => Promise<CleanupResult>>(workflowId)
        return await client.withAbortSignal(waiting.signal, () => handle.result())
      } catch (error) {
        if (waiting.signal.aborted) return undefined
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

export function describeCleanup({ kind, dryRun, before }: CleanupInput) {
  return {
    staticSummary: `Clean up ${kind}${dryRun ? ' (dry run)' : ''}`,
    staticDetails: before === undefined ? 'What has no owner.' : `Those before ${before}.`,
  }
}
