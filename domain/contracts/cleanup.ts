import type { DeletionTarget } from './deletion.ts'

/** Messages of the `cleanup` workflow. Ids and counts only. */
export const cleanupWorkflowType = 'cleanupWorkflow'

export const cleanupKinds = ['inactive-users', 'unverified-users', 'orphans'] as const
export type CleanupKind = (typeof cleanupKinds)[number]

export interface CleanupInput {
  kind: CleanupKind
  /** A dry run only finds. */
  dryRun: boolean
  /** Users: last used, or made, before this (ISO 8601). */
  before?: string
  /** Set when a long clean-up goes on in a new run. */
  progress?: CleanupResult & { after?: string }
}

export interface CleanupResult {
  /** Users concerned, or owners without an owner and deletions that stopped half-way. */
  found: number
  deleted: number
  /** Deletions that failed; each of their workflows says why. */
  failed: number
  /** Things without an owner, by store. */
  orphans: Record<string, number>
}

/** What is to be deleted, and by what an operator finds its workflow. */
export interface CleanupTarget extends DeletionTarget {
  userId: string
  projectId?: string
}

export function cleanupWorkflowId(kind: CleanupKind, time: Date): string {
  return `cleanup/${kind}/${time.toISOString()}`
}
