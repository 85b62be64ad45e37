import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow of a clean-up, which has what it finds deleted by workflows of their own. Ids and counts only. */
export const cleanupContract = {
  type: workflowType('cleanupWorkflow'),
  queue: 'deletions',
  id: ({ kind, cleanupId }) => `cleanup/${kind}/${cleanupId}`,
  input: ({ kind, dryRun, before }) => ({ kind, dryRun, ...(before === undefined ? {} : { before }) }),
  summary: ({ kind, dryRun }) => `Clean up ${kind}${dryRun ? ' (dry run)' : ''}`,
  details: ({ before }) => (before === undefined ? 'What has no owner.' : `Those before ${before}.`),
  attributes: ({ kind }) => ({ CleanupKind: kind }),
} satisfies WorkflowContract<{
  key: { kind: CleanupKind; cleanupId: string }
  start: Omit<CleanupInput, 'progress'> & { cleanupId: string }
  input: CleanupInput
  result: CleanupResult
}>

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
