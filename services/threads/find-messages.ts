import { type Message, messagesFromJson } from '../../domain/messages.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import { type FoundText, findWords, storedWords, wantedWords } from '../../domain/search/message-words.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { createTurns } from '../turns.ts'
import { listed } from './read-threads.ts'

export interface FoundMessage extends FoundText {
  thread: FoundThread
  message: Message
  at: Date
}

export interface FoundMessages {
  found: FoundMessage[]
  /** Where the next page begins; undefined at the end. */
  next: number | undefined
}

export interface MessageSearch {
  query: string
  limit: number
  /** Only what is older than this place. */
  before?: number | undefined
}

const textMembers = { thread_id: 1, messages_json: 1, created_at: 1 } as const
const threadMembers = { name: 1, assistant_id: 1, pinned: 1, tags: 1, updated_at: 1 } as const
type FoundThread = Pick<ThreadRecord, '_id' | keyof typeof threadMembers>
type Candidate = Pick<CheckpointRecord, '_id' | 'thread_id'> & {
  search: NonNullable<CheckpointRecord['search']>
}

/** Entries of the index that one answer looks at, and how many of them at once. */
const maxLookedAt = 2000
const lookedAtAtOnce = 200
/** Messages are up to two megabytes each. */
const readAtOnce = 8
const maxReadBytes = 16 * 1024 * 1024
/** Characters in which words are looked for. */
const maxCharacters = 2_000_000

interface FindMessagesDeps {
  collections: Pick<Collections, 'threads' | 'checkpoints'>
}

/**
 * Messages of the threads of the token's project that have all words, newest first, of each thread the newest. The
 * database is asked for one word, the longest; the others are looked for here, in the words of each entry and then in
 * its text. An answer that has looked at many entries may be short, and says where to go on.
 */
export function createFindMessages(deps: FindMessagesDeps) {
  const { threads, checkpoints } = deps.collections
  return async (caller: Caller, { query, limit, before }: MessageSearch): Promise<FoundMessages> => {
    const wanted = wantedWords(query)
    const words = storedWords(wanted)
    const [key] = words
    if (key === undefined) return { found: [], next: undefined }
    const found = new Map<string, FoundMessage>()
    let place = before
    let bytes = 0
    let characters = 0
    const turns = createTurns()
    const isFull = () => found.size >= limit || characters >= maxCharacters || bytes >= maxReadBytes

    /** False when the answer is full. */
    async function take(candidates: Candidate[]): Promise<boolean> {
      const ids = candidates.map(({ _id }) => _id)
      const threadIds = [...new Set(candidates.map(({ thread_id: id }) => id))]
      const [texts, owners] = await Promise.all([
        checkpoints
          .find({ _id: { $in: ids }, thread_id: { $in: threadIds } }, textMembers)
          .lean<Pick<CheckpointRecord, '_id' | keyof typeof textMembers>[]>(),
        threads.find({ _id: { $in: threadIds }, ...listed(caller) }, threadMembers).lean<FoundThread[]>(),
      ])
      for (const { _id, thread_id: threadId, search } of candidates) {
        if (isFull()) return false
        place = search.at
        const entry = texts.find((text) => text._id === _id)
        const thread = owners.find((owner) => owner._id === threadId)
        if (entry === undefined || thread === undefined || found.has(threadId)) continue
        bytes += entry.messages_json.length
        const read = findWords(messagesFromJson(entry.messages_json), wanted)
        characters += read.charactersRead
        if (read.found !== undefined) found.set(threadId, { ...read.found, thread, at: entry.created_at })
        await turns.next()
      }
      return !isFull()
    }

    for (let lookedAt = 0; lookedAt < maxLookedAt; lookedAt += lookedAtAtOnce) {
      const entries = await checkpoints
        .find(
          {
            'search.project_id': caller.projectId,
            'search.words': key,
            ...(place === undefined ? {} : { 'search.at': { $lt: place } }),
          },
          { thread_id: 1, search: 1 },
        )
        .sort({ 'search.at': -1 })
        .limit(lookedAtAtOnce)
        .lean<Candidate[]>()
      const candidates = entries.filter(({ search }) => words.every((word) => search.words.includes(word)))
      for (let start = 0; start < candidates.length; start += readAtOnce) {
        const some = candidates.slice(start, start + readAtOnce).filter(({ thread_id: id }) => !found.has(id))
        if (!(await take(some))) return { found: [...found.values()], next: place }
      }
      if (entries.length < lookedAtAtOnce) return { found: [...found.values()], next: undefined }
      place = entries.at(-1)?.search.at
    }
    return { found: [...found.values()], next: place }
  }
}
