import { type Client, WorkflowFailedError } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import {
  type DeletionInput,
  type DeletionOutcome,
  deletionWorkflowId,
  deletionWorkflowType,
} from '../../domain/contracts/deletion.ts'
import { queueName } from '../../domain/contracts/queues.ts'
import { targetAttributes } from '../../domain/contracts/target-attributes.ts'
import { workflowTaskTimeout } from '../../domain/contracts/workflow-start.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { DeletionWorkflows } from '../../services/deletion/deletion-workflows.ts'
import { callTemporal } from './call-temporal.ts'

interface Options {
  taskQueuePrefix: string
  /** How long a caller is kept waiting for the end. */
  waitMs: number
}

export function createDeletionWorkflows(client: Client, { taskQueuePrefix, waitMs }: Options): DeletionWorkflows {
  return {
    async run({ kind, id, userId, projectId }) {
      const input: DeletionInput = { kind, id, receiptId: newId() }
      const handle = await callTemporal(client, () =>
        client.workflow.start<(input: DeletionInput) => Promise<DeletionOutcome>>(deletionWorkflowType, {
          workflowId: deletionWorkflowId(input),
          workflowIdConflictPolicy: 'USE_EXISTING',
          taskQueue: queueName('accounts', taskQueuePrefix),
          args: [input],
          workflowTaskTimeout,
          staticSummary: `Delete ${kind} ${id}`,
          staticDetails:
            'Closes it to everything new, stops what runs, removes it from every store and counts what is left.',
          typedSearchAttributes: new TypedSearchAttributes(targetAttributes({ kind, id, userId, projectId })),
        }),
      )
      const waiting = new AbortController()
      const timer = setTimeout(() => waiting.abort(), waitMs)
      try {
        const { receiptId } = await client.withAbortSignal(waiting.signal, () => handle.result())
        return { status: 'complete', receiptId }
      } catch (cause) {
        if (waiting.signal.aborted) return { status: 'pending', receiptId: undefined }
        if (!(cause instanceof WorkflowFailedError))
          throw new AppError('unavailable', 'The service is partly down; the deletion goes on.', { cause })
        throw new AppError(
          'internal',
          'The deletion could not be completed. What is left stays closed; an operator has been told.',
          { cause },
        )
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
