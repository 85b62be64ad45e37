import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow of a deletion: one mechanism for threads, assistants, projects and accounts. */
export const deletionContract = {
  type: workflowType('deletionWorkflow'),
  queue: 'deletions',
  id: ({ kind, id }) => `${kind}-deletion/${id}`,
  input: ({ kind, id, receiptId, condition }) => ({
    kind,
    id,
    receiptId,
    ...(condition === undefined ? {} : { condition }),
  }),
  summary: ({ kind, id }) => `Delete ${kind} ${id}`,
  details: () => 'Closes it to everything new, stops what runs, removes it from every store and counts what is left.',
  attributes: ({ kind, id, userId, projectId }) => ({
    UserId: userId,
    ProjectId: kind === 'project' ? id : projectId,
    ...(kind === 'assistant' ? { AssistantId: id } : {}),
    ...(kind === 'thread' ? { ThreadId: id } : {}),
  }),
} satisfies WorkflowContract<{
  key: DeletionTarget
  start: OwnedTarget & DeletionInput
  input: DeletionInput
  result: DeletionOutcome
}>

export const deletionKinds = ['thread', 'assistant', 'project', 'account'] as const
export type DeletionKind = (typeof deletionKinds)[number]

/** What is to be deleted, with all that hangs on it. */
export interface DeletionTarget {
  kind: DeletionKind
  id: string
}

/** Whose the target is, and in which project, so that an operator finds the workflow by them. */
export interface OwnedTarget extends DeletionTarget {
  userId: string
  projectId?: string
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
