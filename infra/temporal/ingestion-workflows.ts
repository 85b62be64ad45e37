import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client'
import {
  type IngestionProgress,
  fileDeletionWorkflowId,
  fileDeletionWorkflowType,
  ingestionProgressQueryName,
  ingestionWorkflowId,
  ingestionWorkflowType,
} from '../../domain/contracts/ingestion.ts'
import { queueName } from '../../domain/contracts/queues.ts'
import { searchAttributes } from '../../domain/contracts/search-attributes.ts'
import { workflowTaskTimeout } from '../../domain/contracts/workflow-start.ts'
import type { IngestionWorkflows } from '../../services/knowledge/ingestion-workflows.ts'
import type { Settings } from '../config.ts'
import { callTemporal, unlessEnded } from './call-temporal.ts'

const deletionLimitMs = 30_000

export function ingestionWorkflows(
  client: Client,
  { taskQueuePrefix, ingestionWaitHours: patienceHours }: Pick<Settings, 'taskQueuePrefix' | 'ingestionWaitHours'>,
): IngestionWorkflows {
  const taskQueue = queueName('documents', taskQueuePrefix)

  return {
    async start({ projectId, userId, ...input }) {
      await callTemporal(client, () =>
        client.workflow.start(ingestionWorkflowType, {
          workflowId: ingestionWorkflowId(input.ingestionId),
          // An ingestion id is used once: a second start of the same one joins the first.
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          taskQueue,
          args: [{ ...input, patienceHours }],
          workflowTaskTimeout,
          staticSummary: `${input.fileIds.length} file(s) for assistant ${input.assistantId}`,
          staticDetails: 'Extracts text, cuts it into chunks, embeds and stores them, file by file.',
          typedSearchAttributes: [
            { key: searchAttributes.AssistantId, value: input.assistantId },
            { key: searchAttributes.ProjectId, value: projectId },
            { key: searchAttributes.UserId, value: userId },
          ],
        }),
      ).catch((error: unknown) => {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      })
    },

    async finished(ingestionId, signal) {
      const handle = client.workflow.getHandle(ingestionWorkflowId(ingestionId))
      await client.withAbortSignal(signal, () => handle.result())
    },

    async progress(ingestionId) {
      const handle = client.workflow.getHandle(ingestionWorkflowId(ingestionId))
      return unlessEnded(callTemporal(client, () => handle.query<IngestionProgress>(ingestionProgressQueryName)))
    },

    async deleteFile(input) {
      const workflowId = fileDeletionWorkflowId(input.fileId)
      await callTemporal(client, () =>
        client.workflow.start(fileDeletionWorkflowType, {
          workflowId,
          taskQueue,
          args: [input],
          workflowTaskTimeout,
          staticSummary: `Delete file ${input.fileId} of assistant ${input.assistantId}`,
          typedSearchAttributes: [{ key: searchAttributes.AssistantId, value: input.assistantId }],
        }),
      ).catch((error: unknown) => {
        // Asked twice: both wait for the one that is under way.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      })
      try {
        const handle = client.workflow.getHandle(workflowId)
        await client.withAbortSignal(AbortSignal.timeout(deletionLimitMs), () => handle.result())
        return true
      } catch (error) {
        return error instanceof WorkflowNotFoundError
      }
    },
  }
}
