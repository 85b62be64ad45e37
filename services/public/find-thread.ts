import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'

/** The public thread of this assistant; throws `not_found` for a thread of any other one. */
export async function findThread(
  { threads }: Pick<Collections, 'threads'>,
  assistant: AssistantRecord,
  threadId: string,
): Promise<ThreadRecord> {
  const thread = await threads.findOne(ownOf(assistant, threadId)).lean<ThreadRecord>()
  if (thread === null) throw missing('thread')
  return thread
}

export function ownOf(assistant: AssistantRecord, threadId: string) {
  return { _id: threadId, public: true, assistant_id: assistant._id, deleting: { $ne: true } }
}

export function missing(what: string): AppError {
  return new AppError('not_found', `There is no such ${what}.`)
}
