import { patched, workflowInfo } from '@temporalio/workflow'

/**
 * Whether the server suggests to continue as new. `patchId` names the change that introduced it: older executions
 * do not continue as new.
 */
export function isHistoryLong(patchId: string): boolean {
  return workflowInfo().continueAsNewSuggested && patched(patchId)
}
