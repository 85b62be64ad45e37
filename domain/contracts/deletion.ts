/** Messages of the `deletion` workflow: one mechanism for threads, assistants, projects and accounts. */
export const deletionWorkflowType = 'deletionWorkflow'

export const deletionKinds = ['thread', 'assistant', 'project', 'account'] as const
export type DeletionKind = (typeof deletionKinds)[number]

/** What is to be deleted, with all that hangs on it. */
export interface DeletionTarget {
  kind: DeletionKind
  id: string
}

/** Makes the deletion conditional; the fence checks it in the same statement that it sets. Times are ISO 8601. */
export interface DeletionCondition {
  /** Only an account that was last used before this. */
  inactiveSince?: string
  /** Only an account that was never verified and is older than this. */
  unverifiedSince?: string
}

export interface DeletionInput extends DeletionTarget {
  /** Id under which the receipt is kept. */
  receiptId: string
  condition?: DeletionCondition
}

/** `gone`: there was nothing to delete, or the condition did not hold. */
export interface DeletionOutcome {
  outcome: 'deleted' | 'gone'
  receiptId: string
}

/** Contents hang on their owners and go first; owners go when nothing hangs on them any more. */
export type DeletionPhase = 'contents' | 'owners'

/** How many of each store's things there are, by the store's name. */
export type StoreCounts = Record<string, number>

export const deletionIncompleteType = 'deletion_incomplete'

export function deletionWorkflowId({ kind, id }: DeletionTarget): string {
  return `${kind}-deletion/${id}`
}
