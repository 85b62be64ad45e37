import type { Run } from '../../lib/api.ts'
import type { Source } from '../../lib/citations.ts'
import type { Turn as TurnData } from '../../lib/conversation.ts'
import type { Followed } from '../../lib/run-followers.ts'

/** What can be done with a turn. The same functions as long as the chat is open. */
export interface TurnActions {
  onEdit: (turn: TurnData) => void
  /** Without it answers cannot be changed. */
  onEditAnswer?: ((turn: TurnData) => void) | undefined
  onRetry: (turn: TurnData, model?: string) => void
  onVersion: (questionId: string) => void
  onSource: (source: Source, sources: Source[]) => void
}

/** What the answer of a second model needs of its chat. */
export interface Beside {
  sides: string
  thread: { data: { thread_id: string } | undefined }
  /** Stops the answer of the chat. */
  stop: () => void
}

export function isGoingOn(run: Run | undefined, followed: Followed | undefined): boolean {
  if (followed) return !followed.isOver
  return run?.status === 'running' || run?.status === 'pending'
}
