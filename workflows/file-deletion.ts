import { proxyActivities, setCurrentDetails } from '@temporalio/workflow'
import type { createDocumentActivities } from '../activities/documents/index.ts'
import type { fileDeletionContract } from '../domain/contracts/file-deletion.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'
import { storePolicy } from './ingestion-policies.ts'

type Activities = ReturnType<typeof createDocumentActivities>
const { deleteFile } = proxyActivities<Pick<Activities, 'deleteFile'>>(storePolicy)

/** Removes a file; repeats until every store says that nothing is left. */
export const fileDeletionWorkflow: WorkflowOf<typeof fileDeletionContract> = async (input) => {
  setCurrentDetails('Removing the file from every store; repeated while one is away.')
  await deleteFile(input)
  setCurrentDetails('Done: nothing of the file is left.')
  return { fileId: input.fileId, outcome: 'deleted' }
}
