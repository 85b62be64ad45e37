import { type Message, messagesFromJson } from '../../domain/messages.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'

/** A message with what the log knows of it. */
export interface LoggedMessage {
  message: Message
  createdAt: Date
  /** The run that said it; undefined for what the caller brought. */
  runId: string | undefined
}

/** The messages of a thread, oldest first, each with the time and the run of its first appearance. */
export async function loggedMessages(
  { checkpoints }: Pick<Collections, 'checkpoints'>,
  filter: { thread_id: string; run_id?: string },
): Promise<LoggedMessage[]> {
  const entries = await checkpoints.find(filter).sort({ seq: 1 }).lean<CheckpointRecord[]>()
  const logged = new Map<string, LoggedMessage>()
  for (const entry of entries) {
    const runId = entry.source === 'input' ? undefined : entry.run_id
    for (const message of messagesFromJson(entry.messages_json)) {
      const known = logged.get(message.data.id)
      if (known) known.message = message
      else logged.set(message.data.id, { message, createdAt: entry.created_at, runId })
    }
  }
  return [...logged.values()]
}
