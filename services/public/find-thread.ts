import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'

/** Whose threads a request may name: those of an assistant's public callers, or the own ones of a project. */
export type ThreadOwner = AssistantRecord | Caller

/** The thread of this owner; throws `not_found` for a thread of any other one. */
export async function findThread(
  { threads }: Pick<Collections, 'threads'>,
  owner: ThreadOwner,
  threadId: string,
): Promise<ThreadRecord> {
  const thread = await threads.findOne(ownOf(owner, threadId)).lean<ThreadRecord>()
  if (thread === null) throw missing('thread')
  return thread
}

export function ownOf(owner: ThreadOwner, threadId: string) {
  const whose =
    'projectId' in owner
      ? { public: false, user_id: owner.userId, project_id: owner.projectId }
      : { public: true, assistant_id: owner._id }
  return { _id: threadId, ...whose, deleting: { $ne: true } }
}

export function missing(what: string): AppError {
  return new AppError('not_found', `There is no such ${what}.`)
}
