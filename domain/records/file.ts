import Type, { type Static } from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/**
 * `uploading` files are hidden. The chunks and vectors of a `failing` file are being removed; it is shown as
 * `processing`, so that it is not retried before that is done.
 */
const fileStatuses = ['uploading', 'queued', 'processing', 'failing', 'ready', 'failed'] as const
export type FileStatus = (typeof fileStatuses)[number]

/** The statuses of files that are still being processed. */
export const openFileStatuses = ['uploading', 'queued', 'processing'] as const satisfies FileStatus[]

export function isOpenFile({ status }: Pick<FileRecord, 'status'>): boolean {
  return openFileStatuses.some((open) => open === status)
}

const FileOfPage = Type.Object({
  source_id: StoredId,
  page_id: StoredId,
  /** From where the text was read. */
  url: Type.String({ minLength: 1 }),
  title: Type.Optional(Type.String()),
})
type FileOfPage = Static<typeof FileOfPage>

/**
 * A file of an assistant's knowledge, of a project (`domain/knowledge/project-files.ts`), or of a vector store. That of
 * a vector store is an entry: it shares the bytes of a project's file, which it outlives by no moment.
 */
const File = Type.Object({
  _id: StoredId,
  /** The owner: an assistant, a vector store or a project. */
  assistant_id: StoredId,
  /** Only entries: the project's file. */
  source_id: Type.Optional(StoredId),
  /**
   * Only copies: the id under which the chunks and vectors are stored that it shares with files of the same bytes: that
   * of the first of them, which may be deleted by now.
   */
  content_id: Type.Optional(StoredId),
  /** Only entries: what searches can filter by, as JSON text. */
  attributes_json: Type.Optional(Type.String()),
  /** Only entries: how it is cut into chunks, if not as usual. */
  chunking: Type.Optional(Type.Object({ max_tokens: Type.Number(), overlap_tokens: Type.Number() })),
  /** Only entries: a caller ended its processing. */
  cancelled: Type.Optional(Type.Boolean()),
  /** Only files of projects: what the caller means to do with it. */
  purpose: Type.Optional(Type.String()),
  /** Only files of projects, and parts of them (`services/knowledge/part-uploads.ts`). */
  expires_at: Type.Optional(StoredTime),
  /** Only files that arrive, or arrived, in parts. */
  upload: Type.Optional(
    Type.Object({
      /** The size that was announced. */
      bytes: Type.Number(),
      created_at: StoredTime,
      expires_after_seconds: Type.Optional(Type.Number()),
      /** Set while a request makes the file of its parts. */
      claimed_at: Type.Optional(StoredTime),
    }),
  ),
  /** Only pages of sources (`source.ts`): the text of a page is searched while its record names this file. */
  web: Type.Optional(FileOfPage),
  user_id: StoredId,
  /** Who uploaded it, if that is not the holder of the project. */
  created_by: Type.Optional(Type.String()),
  ingestion_id: StoredId,
  /** Position within the upload, from 0: files are processed in this order. */
  order: Type.Number(),
  name: Type.String(),
  content_type: Type.String(),
  /** Size in bytes; set when the whole file has arrived. */
  size: Type.Number(),
  /** Empty until the whole file has arrived, and of a file that arrived in parts. */
  sha256: Type.String(),
  /** Id of the bytes in GridFS. */
  blob_id: StoredId,
  status: Type.Enum(fileStatuses),
  /** Why the file failed, as shown to its owner. */
  error: Type.Optional(Type.String()),
  /**
   * Whether the service caused the failure, so that a retry makes sense. Only for failed files; absent in old
   * records.
   */
  retryable: Type.Optional(Type.Boolean()),
  /** How often the owner has retried it. */
  retries: Type.Optional(Type.Number()),
  /** Chunks stored so far. Final when `extracted` is true. */
  chunks: Type.Number(),
  /** Characters of text in those chunks, without overlaps. */
  characters: Type.Number(),
  extracted: Type.Boolean(),
  /** Pages of it are pictures: it is read when there is a place for that. */
  has_scans: Type.Optional(Type.Boolean()),
  /** Only when it was read and pages of it were pictures; see `domain/knowledge/scan.ts`. */
  scan: Type.Optional(
    Type.Object({ pages: Type.Number(), confidence: Type.Number(), unreadable_pages: Type.Array(Type.Number()) }),
  ),
  /**
   * Number of chunks whose vectors are stored. These are always the first ones, so that a retry continues from
   * here.
   */
  embedded: Type.Number(),
  /** The generation of the space that has all of its vectors (`domain/knowledge/vector-space.ts`); absent: 0. */
  generation: Type.Optional(Type.Number()),
  /** Set while a ready file is embedded anew: how many of its chunks, from the first, have vectors in that space. */
  next: Type.Optional(Type.Object({ generation: Type.Number(), embedded: Type.Number() })),
  created_at: StoredTime,
  updated_at: StoredTime,
})

export const fileRecord = declareRecord({
  model: 'File',
  collection: 'files',
  schema: File,
  owners: [],
  indexes: [
    [{ assistant_id: 1, created_at: 1, order: 1, _id: 1 }],
    [{ ingestion_id: 1, order: 1, _id: 1 }],
    [{ status: 1, updated_at: 1 }],
    [{ user_id: 1 }],
    [{ blob_id: 1 }],
    [{ assistant_id: 1, sha256: 1 }],
    [{ content_id: 1 }, { partialFilterExpression: { content_id: { $exists: true } } }],
    // A vector store has each file once.
    [
      { source_id: 1, assistant_id: 1 },
      { unique: true, partialFilterExpression: { source_id: { $exists: true } } },
    ],
    [{ 'web.source_id': 1, _id: 1 }, { partialFilterExpression: { 'web.source_id': { $exists: true } } }],
    [{ expires_at: 1 }, { partialFilterExpression: { expires_at: { $exists: true } } }],
  ],
  archive: undefined,
})
export type FileRecord = RecordOf<typeof fileRecord>

/** The id under which the chunks and vectors of a file are stored. */
export function contentOf({ _id, content_id: shared }: Pick<FileRecord, '_id' | 'content_id'>): string {
  return shared ?? _id
}

/** The condition that a file was uploaded, and not read from the web. */
export const isUploaded = { web: { $exists: false } } as const

/** The progress of a file that has not been processed. */
export const unprocessed = {
  chunks: 0,
  characters: 0,
  extracted: false,
  embedded: 0,
} as const satisfies Partial<FileRecord>

/** What a new record begins with: hidden, and not yet processed. */
export const newFile = (now: Date) => ({
  status: 'uploading' as const,
  ...unprocessed,
  created_at: now,
  updated_at: now,
})

/** A file whose bytes are still to come, to be stored at `blobId`. */
export const arrivingFile = (blobId: string, now: Date) => ({
  size: 0,
  sha256: '',
  blob_id: blobId,
  ...newFile(now),
})
