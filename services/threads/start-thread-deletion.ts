import { deletionContract } from '../../domain/contracts/deletion.ts'
import { newId } from '../../domain/ids.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { WorkflowClient } from '../workflow-client.ts'

/** Begins to delete a thread with its runs and messages, unless that is under way, and does not wait for the end. */
export function startThreadDeletion(
  workflows: Pick<WorkflowClient, 'start'>,
  { _id: id, user_id: userId, project_id: projectId }: Pick<ThreadRecord, '_id' | 'user_id' | 'project_id'>,
): Promise<void> {
  return workflows.start(deletionContract, { kind: 'thread', id, userId, projectId, receiptId: newId() })
}
