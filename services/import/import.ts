import type { NewIds } from '../../domain/archive/new-ids.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import { threadStore } from '../stores/threads.ts'
import type { ReportWriter } from './report.ts'

/** Whose account is filled, under which ids, and what is told about it. */
export interface Import {
  userId: string
  idOf: NewIds
  report: ReportWriter
}

/** A thread of the account. If it is missing, throws the refusal of the record that belongs to it. */
export async function importedThread(
  collections: Pick<Collections, 'threads'>,
  userId: string,
  threadId: string,
): Promise<ThreadRecord> {
  const thread = await threadStore(collections).findOwned(userId, threadId)
  if (thread === null) throw refused('its thread was not imported')
  return thread
}
