import { type TextKind, textKey, textKinds } from './format.ts'
import { type TextRecord, type TextRecords, isArchived, kindOf, membersOf } from './text-records.ts'
import type { ArchivedTexts } from './texts.ts'

type Stored = TextRecord & { _id: string }
type Texts = Map<string, string>

interface TextReaderDeps extends ArchivedTexts {
  records: Pick<TextRecords, 'read'>
  bringBackBehind: (threadId: string) => void
  /** Bytes of texts that are held for records of kinds that come later. */
  aheadBytes?: number
}

/** Another process may bring a thread back, or seal it anew, at the same time. */
const attempts = 3
/** Objects of one thread that are read at once. */
const readAtOnce = 4

/** Gives records of archived threads their texts from the objects. Holds the texts of the object that it met last. */
export function createTextReader(deps: TextReaderDeps) {
  const { objectsOf, withoutText, records, bringBackBehind, aheadBytes = 0 } = deps
  const objects = createObjects(deps)
  let last: { threadId: string; blobId: string; texts: Texts } | undefined
  /** The object that was met last, of threads with several: records come in the order of the objects. */
  const places = new Map<string, string>()
  const ahead = createAhead(aheadBytes)

  return {
    /** Of objects so far. */
    bytesRead: () => objects.bytesRead,

    /** Executes a read of records, which get their texts. Their threads are brought back behind it. */
    async whole<T extends Stored>(read: () => PromiseLike<T[]>): Promise<T[]> {
      for (let attempt = 1; ; attempt++) {
        const found = await read()
        const byThread = Map.groupBy(found.filter(isArchived), ({ thread_id: id }) => id)
        if (byThread.size === 0) return found
        const texts: Texts = new Map()
        try {
          for (const [threadId, ofThread] of byThread) await collect(threadId, ofThread, texts)
        } finally {
          for (const threadId of byThread.keys()) bringBackBehind(threadId)
        }
        const filled = found.flatMap((record) => withText(record, texts.get(keyOf(record))) ?? [])
        if (filled.length === found.length) return filled
        if (attempt === attempts) throw await withoutText([...byThread.keys()])
      }
    },

    /** The record with its text; undefined if no object has it: it was brought back meanwhile, or is being deleted. */
    find,

    /** The same, read again if it was brought back. Of one that is being deleted, a text that says nothing. */
    async read<T extends Stored>(record: T): Promise<T> {
      for (let attempt = 1; ; attempt++) {
        const found = await find(record)
        if (found !== undefined) return found
        const kind = kindOf(record)
        const now = await records.read(kind, record)
        if (now !== undefined && !isArchived(now)) return { ...record, ...now }
        if (attempt < attempts) continue
        const error = await withoutText([record.thread_id])
        if (error.code !== 'not_found') throw error
        return { ...record, ...membersOf(kind, undefined) }
      }
    },

    /** Holds nothing while the reader waits for its turn; then it goes on with the same object. */
    release(): void {
      last = undefined
    },
  }

  async function find<T extends Stored>(record: T): Promise<T | undefined> {
    if (!isArchived(record)) return record
    const key = keyOf(record)
    return withText(record, ahead.take(key) ?? (await textOf(record.thread_id, kindOf(record), key)))
  }

  async function textOf(threadId: string, kind: TextKind, key: string): Promise<string | undefined> {
    const held = last?.threadId === threadId ? last.texts.get(key) : undefined
    if (held !== undefined) return held
    const blobIds = await objectsOf(threadId)
    const place = blobIds.indexOf(places.get(threadId) ?? '')
    // Without one in hand, it was released.
    const next = last === undefined ? Math.max(place, 0) : place + 1
    for (const blobId of [...blobIds.slice(next), ...blobIds.slice(0, next)]) {
      const texts = await objects.read(threadId, blobId)
      if (texts === undefined) continue
      last = { threadId, blobId, texts }
      if (blobIds.length > 1) places.set(threadId, blobId)
      ahead.keep(texts, kind)
      const text = texts.get(key)
      if (text !== undefined) return text
    }
    return undefined
  }

  /** Reads objects, the last one first, then several at once, until all records have their texts. */
  async function collect(threadId: string, wanted: Stored[], found: Texts): Promise<void> {
    const missing = new Set(wanted.map(keyOf))
    const held = last?.threadId === threadId ? last : undefined
    if (held !== undefined) take(missing, held.texts, found)
    if (missing.size === 0) return
    const left = (await objectsOf(threadId)).filter((blobId) => blobId !== held?.blobId)
    const readNext = async () => {
      const blobId = left.pop()
      const texts = blobId === undefined ? undefined : await objects.read(threadId, blobId)
      if (blobId !== undefined && texts !== undefined && take(missing, texts, found)) last = { threadId, blobId, texts }
    }
    const readOn = async () => {
      while (missing.size > 0 && left.length > 0) await readNext()
    }
    await readNext()
    await Promise.all(Array.from({ length: readAtOnce }, readOn))
  }
}

/** Reads objects, and counts their bytes. */
function createObjects({ textsIn }: Pick<ArchivedTexts, 'textsIn'>) {
  return {
    bytesRead: 0,
    /** Undefined if the thread no longer names the object. */
    async read(threadId: string, blobId: string): Promise<Texts | undefined> {
      const stored = await textsIn(threadId, blobId)
      if (stored === undefined) return undefined
      this.bytesRead += stored.bytes
      return new Map(stored.texts.map(([id, text, kind]) => [textKey(id, kind), text]))
    },
  }
}

/** Moves texts that are missing to those that were found; false if there is none of them. */
function take(missing: Set<string>, texts: Texts, found: Texts): boolean {
  const { size } = missing
  for (const key of missing) {
    const text = texts.get(key)
    if (text === undefined) continue
    found.set(key, text)
    missing.delete(key)
  }
  return missing.size < size
}

/** An export has all entries first, then all runs, then all calls: what is read of later kinds waits here. */
function createAhead(maxBytes: number) {
  const held: Texts = new Map()
  let room = maxBytes
  const bytesOf = (key: string, text: string) => key.length + text.length
  return {
    keep(texts: Texts, kind: TextKind): void {
      const later = textKinds.slice(textKinds.indexOf(kind) + 1)
      for (const [key, text] of texts) {
        const bytes = bytesOf(key, text)
        if (bytes > room || held.has(key) || !later.some((each) => key.startsWith(textKey('', each)))) continue
        held.set(key, text)
        room -= bytes
      }
    },

    take(key: string): string | undefined {
      const text = held.get(key)
      if (text === undefined) return undefined
      held.delete(key)
      room += bytesOf(key, text)
      return text
    },
  }
}

const keyOf = (record: Stored) => textKey(record._id, kindOf(record))

/** Undefined for an archived record without a text. */
function withText<T extends Stored>(record: T, text: string | undefined): T | undefined {
  if (!isArchived(record)) return record
  return text === undefined ? undefined : { ...record, ...membersOf(kindOf(record), text) }
}
