import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, archiveLine, declareRecord } from './declared-record.ts'

export const documentLimits = {
  /** Of one version, in bytes. */
  bytes: 256 * 1024,
  /** Of all versions of all documents of a thread. */
  allBytes: 16 * 1024 * 1024,
  documents: 20,
  /** The oldest goes when there are more. */
  versions: 50,
  nameLength: 120,
  languageLength: 30,
} as const

/** One version of a document of a thread: a text or code that an answer began, and that persons and answers change. */
const Document = Type.Object({
  _id: StoredId,
  /** The account that the thread belongs to. */
  user_id: StoredId,
  thread_id: StoredId,
  /** The same in all of its versions. Clients choose it: it names a document in its thread only. */
  document_id: StoredId,
  /** From 1, without gaps but at the beginning. */
  number: Type.Integer({ minimum: 1 }),
  name: Type.String({ minLength: 1, maxLength: documentLimits.nameLength }),
  /** As answers name it behind their fences; empty for plain text. */
  language: Type.String({ maxLength: documentLimits.languageLength }),
  content: Type.String(),
  /** The length of the content in bytes. */
  size: Type.Integer({ minimum: 0 }),
  /** Who stored it. */
  author_id: Type.Optional(StoredId),
  /** Of a version that an answer wrote: its message. Absent: a person wrote it. */
  message_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  created_at: StoredTime,
})

const line = archiveLine(Document, {
  id: 'version_id',
  members: ['thread_id', 'document_id', 'number', 'name', 'language', 'content', 'message_id', 'created_at'],
  recordsAtOnce: 8,
})

export const documentRecord = declareRecord({
  model: 'Document',
  collection: 'documents',
  schema: Document,
  owners: ['user_id', 'thread_id'],
  indexes: [[{ thread_id: 1, document_id: 1, number: 1 }, { unique: true }], [{ user_id: 1 }]],
  archive: line,
})
export type DocumentRecord = RecordOf<typeof documentRecord>
