import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Caller } from '../owner.ts'

type Whose = Pick<ThreadRecord, 'user_id' | 'project_id' | 'visibility' | 'project_access'>

/** His own threads, in any project, and those that their owners share with the project of his token. */
export function maySee({ userId, projectId }: Caller, thread: Whose): boolean {
  return thread.user_id === userId || (thread.visibility === 'project' && thread.project_id === projectId)
}

/** Throws `not_found` for a thread that the caller does not see. */
export function requireSeen<T extends Whose>(caller: Caller, thread: T | null): T {
  if (thread === null || !maySee(caller, thread)) throw missing()
  return thread
}

/** Also throws `forbidden` for one that others may only read. */
export function requireContinuable<T extends Whose>(caller: Caller, thread: T | null): T {
  const seen = requireSeen(caller, thread)
  if (seen.user_id === caller.userId || seen.project_access === 'continue') return seen
  throw new AppError('forbidden', 'Whoever made this chat shares it read-only: only he continues it.')
}

/** Also throws `forbidden` for the thread of somebody else. */
export function requireMade<T extends Whose>(caller: Caller, thread: T | null): T {
  const seen = requireSeen(caller, thread)
  if (seen.user_id === caller.userId) return seen
  throw new AppError('forbidden', 'Only whoever made this chat may do this.')
}

export function missing(): AppError {
  return new AppError('not_found', 'There is no such thread.')
}
