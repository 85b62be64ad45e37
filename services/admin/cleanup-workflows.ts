import type { CleanupInput, CleanupResult } from '../../domain/contracts/cleanup.ts'

/** The way to the clean-up workflows. */
export interface CleanupWorkflows {
  start(input: CleanupInput): Promise<{ workflowId: string }>
  /** The result, or undefined when it is not there within the time that a caller is kept waiting. */
  resultOf(workflowId: string): Promise<CleanupResult | undefined>
}
