import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import {
  type FileDeletedSignal,
  type IngestionProgress,
  fileDeletedSignalName,
  fileDeletionWorkflowId,
  fileDeletionWorkflowType,
  ingestionProgressQueryName,
  ingestionWorkflowId,
  ingestionWorkflowType,
} from '../../domain/contracts/ingestion.ts'
import { queueName } from '../../domain/contracts/queues.ts'
import { searchAttributes } from '../../domain/contracts/search-attributes.ts'
import { workflowTaskTimeout } from '../../domain/contracts/workflow-start.ts'
import { AppError } from '../../domain/errors.ts'
import type { IngestionWorkflows } from '../../services/knowledge/ingestion-workflows.ts'
import type { Settings } from '../config.ts'
import { callTemporal, unlessEnded } from './call-temporal.ts'

export function ingestionWorkflows(
  client: Client,
  settings: Pick<Settings, 'taskQueuePrefix' | 'ingestionWaitHours' | 'deletionWaitSeconds'>,
): IngestionWorkflows {
  const { ingestionWaitHours: patienceHours } = settings
  const taskQueue = queueName('documents', settings.taskQueuePrefix)

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

    async fileDeleted(ingestionId, fileId) {
      const handle = client.workflow.getHandle(ingestionWorkflowId(ingestionId))
      const signal: FileDeletedSignal = { fileId }
      await unlessEnded(callTemporal(client, () => handle.signal(fileDeletedSignalName, signal)))
    },

    async deleteFile(input) {
      await callTemporal(client, () =>
        client.workflow.start(fileDeletionWorkflowType, {
          workflowId: fileDeletionWorkflowId(input.fileId),
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
    },

    async fileDeletionEnded(fileId) {
      const handle = client.workflow.getHandle(fileDeletionWorkflowId(fileId))
      const limit = AbortSignal.timeout(settings.deletionWaitSeconds * 1000)
      try {
        await client.withAbortSignal(limit, () => handle.result())
        return true
      } catch (cause) {
        if (cause instanceof WorkflowNotFoundError) return true
        if (limit.aborted) return false
        if (cause instanceof WorkflowFailedError)
          throw new AppError('internal', 'The deletion of the file was broken off.', { cause })
        throw new AppError('unavailable', 'The service is partly down; the deletion goes on.', { cause })
      }
    },
  }
}
