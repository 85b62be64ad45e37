import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type DocumentRecord, documentLimits } from '../../domain/records/document.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import { lockThread } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type DocumentVersion, documentStore } from './store.ts'

export type Documents = ReturnType<typeof createDocuments>

interface DocumentsDeps {
  collections: Pick<Collections, 'documents' | 'threads'>
  transaction: RunInTransaction
  threads: {
    see(caller: Caller, threadId: string): Promise<ThreadRecord>
    requireContinuable(caller: Caller, threadId: string): Promise<ThreadRecord>
    readOwn(userId: string, threadId: string): Promise<ThreadRecord>
  }
}

interface NewVersion {
  name: string
  language: string
  content: string
  message_id?: string
  /** The number of the newest version that the caller knows; 0 for a new document. */
  base: number
}

type Restored = Pick<DocumentRecord, '_id' | 'thread_id' | 'document_id' | 'number' | 'name' | 'language' | 'content'> &
  Pick<DocumentRecord, 'created_at' | 'message_id'>

/**
 * Documents of threads: whoever sees a thread reads them, whoever may continue it writes them. They go with their thread.
 * A thread that the caller does not see is answered like a missing one: `not_found`.
 */
export function createDocuments({ collections, transaction, threads }: DocumentsDeps) {
  const store = documentStore(collections)

  /** Stores a version within the limits, and removes the oldest beyond them. */
  async function append(version: DocumentRecord, base: number | undefined): Promise<DocumentVersion> {
    const { content: _, ...added } = version
    return transaction(async (session) => {
      // Of two at once one is repeated, and sees the other.
      await lockThread(collections, version.thread_id, session, { user_id: version.user_id })
      const all = await store.listInThread(version.thread_id, session)
      const own = all.filter(({ document_id: id }) => id === version.document_id)
      const newest = own.at(-1)
      const number = base === undefined ? version.number : (newest?.number ?? 0) + 1
      if (base === undefined && own.some(({ number: taken }) => taken === version.number))
        throw new AppError('conflict', 'The document has been changed since the archive was made.')
      const stored =
        version.message_id === undefined ? undefined : own.find(({ message_id: id }) => id === version.message_id)
      if (base !== undefined && stored !== undefined) return stored
      if (base !== undefined && base > 0 && newest === undefined) throw missing()
      if (base !== undefined && (newest?.number ?? 0) !== base)
        throw new AppError('conflict', 'The document has been changed meanwhile: read its newest version.')
      if (newest === undefined && new Set(all.map(({ document_id: id }) => id)).size >= documentLimits.documents)
        throw full(`A chat has at most ${documentLimits.documents} documents.`)
      const over = own.slice(0, Math.max(0, own.length + 1 - documentLimits.versions))
      const gone = new Set(over.map(({ _id }) => _id))
      const remainingBytes = all.reduce((sum, { _id, size }) => sum + (gone.has(_id) ? 0 : size), 0)
      if (remainingBytes + version.size > documentLimits.allBytes)
        throw full(`The documents of a chat take at most ${documentLimits.allBytes / 1024 / 1024} MB.`)
      if (over.length > 0) await store.removeInThread(version.thread_id, [...gone], session)
      await store.add({ ...version, number }, session)
      return { ...added, number }
    })
  }

  return {
    /** Every version of every document, without the texts. */
    async list(caller: Caller, threadId: string): Promise<{ thread: ThreadRecord; versions: DocumentVersion[] }> {
      const thread = await threads.see(caller, threadId)
      return { thread, versions: await store.listInThread(threadId) }
    },

    async read(caller: Caller, threadId: string, documentId: string, number?: number): Promise<DocumentRecord> {
      await threads.see(caller, threadId)
      const found = await store.findInThread(threadId, documentId, number)
      if (found === null) throw missing()
      return found
    },

    /**
     * Adds a version; the first makes the document. A message has written at most one version of a document: a repeated
     * request finds it. Throws `conflict` if `base` is not the newest version, `forbidden` beyond the limits.
     */
    async put(caller: Caller, threadId: string, documentId: string, version: NewVersion): Promise<DocumentVersion> {
      const thread = await threads.requireContinuable(caller, threadId)
      if (thread.public || thread.counted === false)
        throw new AppError('forbidden', 'Only chats of persons have documents, not those of public callers.')
      const { base, ...rest } = version
      const added = {
        _id: newId(),
        thread_id: threadId,
        document_id: documentId,
        number: base + 1,
        created_at: new Date(),
      }
      return append(checked({ ...added, user_id: thread.user_id, author_id: caller.userId, ...rest }), base)
    },

    async remove(caller: Caller, threadId: string, documentId: string): Promise<void> {
      await threads.requireContinuable(caller, threadId)
      if (!(await store.removeDocument(threadId, documentId))) throw missing()
    },

    /** A version of an archive, in a thread of the account. */
    async restore(userId: string, version: Restored): Promise<'imported' | 'existing'> {
      if (await store.hasOwned(userId, version._id)) return 'existing'
      await threads.readOwn(userId, version.thread_id)
      await append(checked({ ...version, user_id: userId }), undefined)
      return 'imported'
    },
  }
}

function checked(version: Omit<DocumentRecord, 'size'>): DocumentRecord {
  const size = Buffer.byteLength(version.content)
  if (size > documentLimits.bytes)
    throw new AppError('payload_too_large', `A document has at most ${documentLimits.bytes / 1024} KB.`)
  if (version.name.trim() === '') throw new AppError('bad_request', 'A document needs a name.')
  return { ...version, name: version.name.trim(), size }
}

const missing = () => new AppError('not_found', 'There is no such document.')
const full = (limit: string) => new AppError('forbidden', `${limit} Delete one first.`)
