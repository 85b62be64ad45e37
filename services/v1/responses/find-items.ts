import { invalidInput } from '../../../domain/errors.ts'
import { type Message, messagesFromJson } from '../../../domain/messages.ts'
import type { CheckpointRecord } from '../../../domain/records/thread.ts'
import { itemPlaceOf } from '../../../domain/responses/ids.ts'
import type { Caller } from '../../assistants/write-assistants.ts'
import type { Collections } from '../../collections.ts'

/** What a request gives as input: a message, or the id of an item that exists. */
export type InputEntry = { message: Message } | { reference: string; loc: (string | number)[] }

/** Replaces references by the messages that they name. Throws `invalid_input` for one that names nothing of the caller's. */
export function createFindItems({ checkpoints, runs, threads }: Pick<Collections, 'checkpoints' | 'runs' | 'threads'>) {
  return async (caller: Caller, entries: InputEntry[], known: Message[]): Promise<Message[]> => {
    const messages = new Map(known.map((message) => [message.data.id, message]))
    const found: Message[] = []
    for (const entry of entries) found.push('message' in entry ? entry.message : await find(caller, entry, messages))
    return found
  }

  async function find(
    { userId, projectId }: Caller,
    { reference, loc }: { reference: string; loc: (string | number)[] },
    known: Map<string, Message>,
  ): Promise<Message> {
    const place = itemPlaceOf(reference)
    const already = place && known.get(place.messageId)
    if (already !== undefined) return already
    const own = { user_id: userId, project_id: projectId }
    if (place !== undefined) {
      const run = await runs.findOne({ _id: place.entryId, ...own }, { thread_id: 1 }).lean()
      const filter = run === null ? { _id: place.entryId } : { run_id: run._id }
      const logged = await checkpoints.find(filter).lean<CheckpointRecord[]>()
      const message = logged
        .flatMap((entry) => messagesFromJson(entry.messages_json))
        .findLast(({ data }) => data.id === place.messageId)
      const threadId = logged[0]?.thread_id
      const isOwn = (await threads.exists({ _id: threadId, ...own, deleting: { $ne: true } })) !== null
      if (message !== undefined && isOwn) return message
    }
    throw invalidInput([...loc, 'id'], `there is no item ${reference}`, 'not_found')
  }
}
