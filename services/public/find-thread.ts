import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { requireContinuable, requireMade, requireSeen } from '../threads/read-threads.ts'
import { type ThreadOwner, namedThreadStore } from './store.ts'

/** What a request does with a thread: reads it, runs on it, or what only its owner may do. */
export type ThreadUse = 'see' | 'continue' | 'make'

const checks = { see: requireSeen, continue: requireContinuable, make: requireMade }

/**
 * The thread of this owner; of a project also one that the project sees. Throws `not_found` for any other one, and
 * `forbidden` for one of which the caller may not make this use.
 */
export async function findThread(
  collections: Pick<Collections, 'threads'>,
  owner: ThreadOwner,
  threadId: string,
  use: ThreadUse = 'make',
): Promise<ThreadRecord> {
  const threads = namedThreadStore(collections)
  if ('projectId' in owner) return checks[use](owner, await threads.findInProject(owner.projectId, threadId))
  const thread = await threads.findOwned(owner, threadId)
  if (thread === null) throw missing('thread')
  return thread
}

export function missing(what: string): AppError {
  return new AppError('not_found', `There is no such ${what}.`)
}
