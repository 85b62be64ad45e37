import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/**
 * The workflow of a clean-up. It starts a deletion workflow for everything that it finds. It carries ids and counts
 * only.
 */
export const cleanupContract = {
  type: workflowType('cleanupWorkflow'),
  queue: 'deletions',
  id: ({ kind, cleanupId }) => `cleanup/${kind}/${cleanupId}`,
  input: ({ kind, dryRun, before }) => ({ kind, dryRun, ...(before === undefined ? {} : { before }) }),
  summary: ({ kind, dryRun }) => `Clean up ${kind}${dryRun ? ' (dry run)' : ''}`,
  details: ({ before }) => (before === undefined ? 'Records whose owner is gone.' : `Those before ${before}.`),
  attributes: ({ kind }) => ({ CleanupKind: kind }),
} satisfies WorkflowContract<{
  key: { kind: CleanupKind; cleanupId: string }
  start: Omit<CleanupInput, 'progress'> & { cleanupId: string }
  input: CleanupInput
  result: CleanupResult
}>

const cleanupKinds = ['inactive-users', 'unverified-users', 'orphans'] as const
export type CleanupKind = (typeof cleanupKinds)[number]

export interface CleanupInput {
  kind: CleanupKind
  /** A dry run only counts. */
  dryRun: boolean
  /** Select users who were last active, or created, before this time (ISO 8601). */
  before?: string
  /** Set when a long clean-up continues as new. */
  progress?: CleanupResult & { after?: string }
}

export interface CleanupResult {
  /** Users found, or orphans together with interrupted deletions. */
  found: number
  deleted: number
  /** Deletions that failed; their workflows contain the reasons. */
  failed: number
  /** Orphans by store. */
  orphans: Record<string, number>
}
