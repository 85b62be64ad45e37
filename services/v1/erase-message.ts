import type { Message } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { EraseWhatWasSaid } from '../threads/erase-what-was-said.ts'

/** What is left of a message: its place. Results of its calls are left out of conversations without it. */
function tombstoneOf({ type, data }: Message): Message {
  const { id } = data
  if (type === 'AIMessage') return { type, data: { id, content: '', deleted: true } }
  const place = type === 'HumanMessage' && data.after !== undefined ? { after: data.after } : {}
  return { type: 'HumanMessage', data: { id, content: '', deleted: true, ...place } }
}

/** Deletes what a message of a thread says. Safe to repeat. */
export function createEraseMessage(erase: EraseWhatWasSaid) {
  return (thread: Pick<ThreadRecord, '_id' | 'user_id' | 'project_id'>, message: Message): Promise<void> =>
    erase(thread, {
      messageIds: [message.data.id],
      left: (version) => [tombstoneOf(version)],
      tombstones: [tombstoneOf(message)],
    })
}
