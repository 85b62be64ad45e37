import { addAll } from '../../../domain/add-all.ts'
import { type AppError, invalidInput } from '../../../domain/errors.ts'
import { type Message, messagesFromJson } from '../../../domain/messages.ts'
import type { CheckpointRecord } from '../../../domain/records/thread.ts'
import { itemPlaceOf } from '../../../domain/responses/ids.ts'
import type { Caller } from '../../assistants/write-assistants.ts'
import { copyAttachments } from '../../attachments/copy-attachments.ts'
import type { Received } from '../../attachments/receive-content.ts'
import type { Collections } from '../../collections.ts'
import { type PartSourcesDeps, withPartSources } from '../part-sources.ts'
import { type GivenItem, receiveItem } from './receive-items.ts'

type Loc = (string | number)[]

/** What a request gives as input: a message, one with more than text, or the id of an item that exists. */
export type InputEntry = { message: Message } | GivenItem | { reference: string; loc: Loc }

export interface FindItemsDeps extends PartSourcesDeps {
  collections: Pick<Collections, 'attachments' | 'checkpoints' | 'runs' | 'threads'>
}

/**
 * The messages of a request's input, and the bytes of their images and files. References are replaced by the messages
 * that they name. Throws `invalid_input` for a reference to nothing of the caller's, and for a file that cannot be read.
 */
export function createFindItems(deps: FindItemsDeps) {
  const { checkpoints, runs, threads } = deps.collections

  return async (caller: Caller, entries: InputEntry[], known: Message[]): Promise<Received> => {
    const messages = new Map(known.map((message) => [message.data.id, message]))
    return withPartSources(deps, caller, async (sources) => {
      const all: Received = { input: [], attachments: [] }
      for (const entry of entries) {
        if ('message' in entry) all.input.push(entry.message)
        else {
          const more = 'parts' in entry ? await receiveItem(sources, entry, all) : await find(caller, entry, messages)
          addAll(all.input, more.input)
          addAll(all.attachments, more.attachments)
        }
      }
      return all
    })
  }

  async function find(
    { userId, projectId }: Caller,
    { reference, loc }: { reference: string; loc: Loc },
    known: Map<string, Message>,
  ): Promise<Received> {
    const place = itemPlaceOf(reference)
    if (place === undefined) throw noItem(reference, loc)
    const already = known.get(place.messageId)
    if (already !== undefined) return { input: [already], attachments: [] }
    const own = { user_id: userId, project_id: projectId }
    const run = await runs.findOne({ _id: place.entryId, ...own }, { thread_id: 1 }).lean()
    const threadId = run?.thread_id ?? (await entryThread(place.entryId))
    const isThere = { ...own, _id: threadId ?? '', deleting: { $ne: true } }
    if (threadId === undefined || (await threads.exists(isThere)) === null) throw noItem(reference, loc)
    const ofItem = run === null ? { _id: place.entryId } : { run_id: run._id }
    const logged = await checkpoints.find({ thread_id: threadId, ...ofItem }).lean<CheckpointRecord[]>()
    const message = logged
      .flatMap((entry) => messagesFromJson(entry.messages_json))
      .findLast(({ data }) => data.id === place.messageId)
    if (message === undefined) throw noItem(reference, loc)
    return copyAttachments(deps.collections, threadId, [message])
  }

  async function entryThread(entryId: string): Promise<string | undefined> {
    const entry = await checkpoints
      .findOne({ _id: entryId }, { thread_id: 1 })
      .lean<Pick<CheckpointRecord, 'thread_id'>>()
    return entry?.thread_id
  }
}

function noItem(reference: string, loc: Loc): AppError {
  return invalidInput([...loc, 'id'], `there is no item ${reference}`, 'not_found')
}
