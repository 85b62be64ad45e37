import { type Message, messagesFromJson } from '../../domain/messages.ts'
import { type FoundText, findTerms, storedTerms, wantedTerms } from '../../domain/search/message-terms.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import { type SearchedEntry, logStore } from '../stores/log.ts'
import { type FoundThread, threadStore } from '../stores/threads.ts'
import { createTurns } from '../turns.ts'

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

/** Entries of the index that one answer looks at, and how many of them at once. */
const maxInspected = 2000
const inspectedAtOnce = 200
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
  const log = logStore(deps.collections)
  return async (caller: Caller, { query, limit, before }: MessageSearch): Promise<FoundMessages> => {
    const wanted = wantedTerms(query)
    const words = storedTerms(wanted)
    const [key] = words
    if (key === undefined) return { found: [], next: undefined }
    const found = new Map<string, FoundMessage>()
    let index = before
    let bytes = 0
    let characters = 0
    const turns = createTurns()
    const isFull = () => found.size >= limit || characters >= maxCharacters || bytes >= maxReadBytes

    /** False when the answer is full. */
    async function take(candidates: SearchedEntry[]): Promise<boolean> {
      const ids = candidates.map(({ _id }) => _id)
      const threadIds = [...new Set(candidates.map(({ thread_id: id }) => id))]
      const [texts, owners] = await Promise.all([
        log.listFound(ids, threadIds),
        threadStore(deps.collections).listFound(caller, threadIds),
      ])
      for (const { _id, thread_id: threadId, search } of candidates) {
        if (isFull()) return false
        index = search.at
        const entry = texts.find((text) => text._id === _id)
        const thread = owners.find((owner) => owner._id === threadId)
        if (entry === undefined || thread === undefined || found.has(threadId)) continue
        bytes += entry.messages_json.length
        const read = findTerms(messagesFromJson(entry.messages_json), wanted)
        characters += read.charactersRead
        if (read.found !== undefined) found.set(threadId, { ...read.found, thread, at: entry.created_at })
        await turns.next()
      }
      return !isFull()
    }

    for (let inspected = 0; inspected < maxInspected; inspected += inspectedAtOnce) {
      const entries = await log.listWithWord(caller.projectId, { word: key, before: index, most: inspectedAtOnce })
      const candidates = entries.filter(({ search }) => words.every((word) => search.words.includes(word)))
      for (let start = 0; start < candidates.length; start += readAtOnce) {
        const some = candidates.slice(start, start + readAtOnce).filter(({ thread_id: id }) => !found.has(id))
        if (!(await take(some))) return { found: [...found.values()], next: index }
      }
      if (entries.length < inspectedAtOnce) return { found: [...found.values()], next: undefined }
      index = entries.at(-1)?.search.at
    }
    return { found: [...found.values()], next: index }
  }
}
