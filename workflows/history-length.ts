import { patched, workflowInfo } from '@temporalio/workflow'

/**
 * Whether the server suggests to continue as new. `patchId` names the version of the workflow that can:
 * executions from before it stay as they are.
 */
export function isHistoryLong(patchId: string): boolean {
  return workflowInfo().continueAsNewSuggested && patched(patchId)
}
