import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow that removes one file of an assistant, a project or a vector store. */
export const fileDeletionContract = {
  type: workflowType('fileDeletionWorkflow'),
  queue: 'deletions',
  id: ({ fileId }) => `file-deletion/${fileId}`,
  input: ({ fileId, assistantId, blobId, contentId, ingestionId, userId }) => ({
    fileId,
    assistantId,
    blobId,
    contentId,
    ingestionId,
    userId,
  }),
  summary: ({ fileId, assistantId }) => `Delete file ${fileId} of assistant ${assistantId}`,
  attributes: ({ userId, projectId, assistantId }) => ({
    UserId: userId,
    ProjectId: projectId,
    AssistantId: assistantId,
  }),
} satisfies WorkflowContract<{
  key: { fileId: string }
  start: FileDeletionInput & { userId: string; projectId: string }
  input: FileDeletionInput
  result: { fileId: string; outcome: 'deleted' }
}>

export interface FileDeletionInput {
  fileId: string
  assistantId: string
  /** Missing for an entry of a vector store: its bytes are those of the project's file. */
  blobId?: string
  /** Of a copy: under which its chunks and vectors are stored. */
  contentId?: string
  /** The ingestion that may be processing the file. Missing in old inputs, like `userId`. */
  ingestionId?: string
  /** Owner of the file; only the owner may read the receipt. */
  userId?: string
}
