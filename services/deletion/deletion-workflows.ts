import type { DeletionTarget } from '../../domain/contracts/deletion.ts'

/** Whose the target is, and in which project, so that an operator finds the workflow by them. */
export interface OwnedTarget extends DeletionTarget {
  userId: string
  projectId?: string
}

export type DeletionResult =
  | { status: 'complete'; receiptId: string }
  /** It goes on; the receipt says when it is over. Unknown while the workflow has not begun. */
  | { status: 'pending'; receiptId: string | undefined }

/** The way to the deletion workflows. */
export interface DeletionWorkflows {
  /**
   * Starts a deletion, or joins the one that is under way, and waits for its end for a bounded time.
   * Throws `internal` when it failed: something would not go.
   */
  run(target: OwnedTarget): Promise<DeletionResult>
}
