import type { Message } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { ScanLog } from '../threads/log-scan.ts'

/** A message with what the log records about it. */
export interface LoggedMessage {
  message: Message
  createdAt: Date
  /** The run that produced it; undefined for messages of the caller. */
  runId: string | undefined
}

/**
 * The messages of a thread, or of one of its runs, oldest first, each with the time and the run of its first
 * appearance.
 */
export async function loggedMessages(
  scan: ScanLog,
  owner: Pick<ThreadRecord, '_id' | 'user_id'>,
  run?: Pick<RunRecord, '_id'>,
): Promise<LoggedMessage[]> {
  const logged = new Map<string, LoggedMessage>()
  const filter = run === undefined ? { thread_id: owner._id } : { run_id: run._id }
  await scan({ filter, userId: owner.user_id }, (entry, messages) => {
    const runId = entry.source === 'input' ? undefined : entry.run_id
    for (const { message } of messages) {
      const known = logged.get(message.data.id)
      if (known) known.message = message
      else logged.set(message.data.id, { message, createdAt: entry.created_at, runId })
    }
  })
  return [...logged.values()]
}
