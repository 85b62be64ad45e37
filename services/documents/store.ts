import type { ClientSession } from 'mongoose'
import type { DocumentRecord } from '../../domain/records/document.ts'
import type { Collections } from '../collections.ts'

/** A version without its text. */
export type DocumentVersion = Omit<DocumentRecord, 'content'>

const inOrder = { document_id: 1, number: 1 } as const

/** All statements on `documents`; each names the thread, which the caller has been allowed to see before. */
export const documentStore = ({ documents }: Pick<Collections, 'documents'>) => ({
  /** Every version of every document, without the texts. */
  listInThread: (threadId: string, session?: ClientSession): Promise<DocumentVersion[]> =>
    documents
      .find({ thread_id: threadId }, { content: 0 }, session === undefined ? {} : { session })
      .sort(inOrder)
      .lean<DocumentVersion[]>()
      .exec(),

  /** Without a number: the newest. */
  findInThread: (threadId: string, documentId: string, number?: number): Promise<DocumentRecord | null> =>
    documents
      .findOne({ thread_id: threadId, document_id: documentId, ...(number === undefined ? {} : { number }) })
      .sort({ number: -1 })
      .lean<DocumentRecord>()
      .exec(),

  /** Under its own id, in the account of an archive. */
  hasOwned: async (userId: string, id: string): Promise<boolean> =>
    (await documents.exists({ _id: id, user_id: userId })) !== null,

  async add(version: DocumentRecord, session: ClientSession): Promise<void> {
    await documents.create([version], { session })
  },

  async removeInThread(threadId: string, ids: string[], session: ClientSession): Promise<void> {
    await documents.deleteMany({ thread_id: threadId, _id: { $in: ids } }, { session })
  },

  /** False if there is none. */
  async removeDocument(threadId: string, documentId: string): Promise<boolean> {
    return (await documents.deleteMany({ thread_id: threadId, document_id: documentId })).deletedCount > 0
  },

  /** What these messages have written. */
  async removeOfMessages(threadId: string, messageIds: readonly string[]): Promise<void> {
    await documents.deleteMany({ thread_id: threadId, message_id: { $in: [...messageIds] } })
  },
})
