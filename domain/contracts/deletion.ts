import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow of a deletion: one mechanism for threads, assistants, vector stores, projects and accounts. */
export const deletionContract = {
  type: workflowType('deletionWorkflow'),
  queue: 'deletions',
  id: ({ kind, id }) => `${kind}-deletion/${id}`,
  input: ({ kind, id, receiptId, condition, sharedProjects }) => ({
    kind,
    id,
    receiptId,
    ...(sharedProjects === undefined ? {} : { sharedProjects }),
    ...(condition === undefined ? {} : { condition }),
  }),
  summary: ({ kind, id }) => `Delete ${kind} ${id}`,
  details: () => 'Blocks new records, stops open runs, removes everything from every store and counts what is left.',
  attributes: ({ kind, id, userId, projectId }) => ({
    UserId: userId,
    ProjectId: kind === 'project' ? id : projectId,
    ...(kind === 'assistant' || kind === 'vector_store' ? { AssistantId: id } : {}),
    ...(kind === 'thread' ? { ThreadId: id } : {}),
  }),
} satisfies WorkflowContract<{
  key: DeletionTarget
  start: OwnedTarget & DeletionInput
  input: DeletionInput
  result: DeletionOutcome
}>

export const deletionKinds = ['thread', 'assistant', 'vector_store', 'project', 'account'] as const
export type DeletionKind = (typeof deletionKinds)[number]

/** What becomes of shared projects that have no other owner when the account that holds them is deleted. */
export const sharedProjectsChoices = ['hand_over', 'delete'] as const
export type SharedProjects = (typeof sharedProjectsChoices)[number]

/** What is deleted, together with everything that belongs to it. */
export interface DeletionTarget {
  kind: DeletionKind
  id: string
}

/** Owner and project of the target, so that an operator can find the workflow by them. */
export interface OwnedTarget extends DeletionTarget {
  userId: string
  projectId?: string
}

/** Makes the deletion conditional; the statement that sets the deletion marker checks it. Times are ISO 8601. */
export interface DeletionCondition {
  /** Only an account that was last active before this time. */
  inactiveSince?: string
  /** Only an account that was never verified and was created before this time. */
  unverifiedSince?: string
}

export interface DeletionInput extends DeletionTarget {
  /** Id of the receipt. */
  receiptId: string
  /** What becomes of projects that the account shares and in which nobody else is an owner; default: they are deleted. */
  sharedProjects?: SharedProjects
  condition?: DeletionCondition
}

/** `gone`: there was nothing to delete, or the condition did not hold. */
interface DeletionOutcome {
  outcome: 'deleted' | 'gone'
  receiptId: string
}

/** How a requested deletion stands when its request is answered. */
export type DeletionResult =
  | { status: 'complete'; receiptId: string }
  /** The deletion continues; its receipt tells when it has ended. Not known before the workflow has begun. */
  | { status: 'pending'; receiptId: string | undefined }

/** Contents belong to owners and are deleted first; owners are deleted when they own nothing any more. */
export type DeletionPhase = 'contents' | 'owners'

/** Number of records in each store. */
export type StoreCounts = Record<string, number>

export function hasAny(counts: StoreCounts): boolean {
  return Object.values(counts).some((count) => count > 0)
}

export const deletionIncompleteType = 'deletion_incomplete'
