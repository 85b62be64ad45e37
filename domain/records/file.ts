import type { Scan } from '../knowledge/scan.ts'

/**
 * `uploading` files are hidden. The chunks and vectors of a `failing` file are being removed; it is shown as
 * `processing`, so that it is not retried before that is done.
 */
export const fileStatuses = ['uploading', 'queued', 'processing', 'failing', 'ready', 'failed'] as const
export type FileStatus = (typeof fileStatuses)[number]

/** The statuses of files that are still being processed. */
export const openFileStatuses = ['uploading', 'queued', 'processing'] as const satisfies FileStatus[]

export function isOpenFile({ status }: Pick<FileRecord, 'status'>): boolean {
  return openFileStatuses.some((open) => open === status)
}

/**
 * A file of an assistant's knowledge, of a project (`domain/knowledge/project-files.ts`), or of a vector store. That of
 * a vector store is an entry: it shares the bytes of a project's file, which it outlives by no moment.
 */
export interface FileRecord {
  _id: string
  /** The owner: an assistant, a vector store or a project. */
  assistant_id: string
  /** Only entries: the project's file. */
  source_id?: string
  /**
   * Only copies: the id under which the chunks and vectors are stored that it shares with files of the same bytes: that
   * of the first of them, which may be deleted by now.
   */
  content_id?: string
  /** Only entries: what searches can filter by, as JSON text. */
  attributes_json?: string
  /** Only entries: how it is cut into chunks, if not as usual. */
  chunking?: { max_tokens: number; overlap_tokens: number }
  /** Only entries: a caller ended its processing. */
  cancelled?: boolean
  /** Only files of projects: what the caller means to do with it. */
  purpose?: string
  /** Only files of projects, and parts of them (`services/knowledge/part-uploads.ts`). */
  expires_at?: Date
  /** Only files that arrive, or arrived, in parts. */
  upload?: {
    /** The size that was announced. */
    bytes: number
    created_at: Date
    expires_after_seconds?: number
    /** Set while a request makes the file of its parts. */
    claimed_at?: Date
  }
  /** Only pages of sources (`source.ts`): the text of a page is searched while its record names this file. */
  web?: FileOfPage
  user_id: string
  /** Who uploaded it, if that is not the holder of the project. */
  created_by?: string
  ingestion_id: string
  /** Position within the upload, from 0: files are processed in this order. */
  order: number
  name: string
  content_type: string
  /** Size in bytes; set when the whole file has arrived. */
  size: number
  /** Empty until the whole file has arrived, and of a file that arrived in parts. */
  sha256: string
  /** Id of the bytes in GridFS. */
  blob_id: string
  status: FileStatus
  /** Why the file failed, as shown to its owner. */
  error?: string
  /**
   * Whether the service caused the failure, so that a retry makes sense. Only for failed files; absent in old
   * records.
   */
  retryable?: boolean
  /** How often the owner has retried it. */
  retries?: number
  /** Chunks stored so far. Final when `extracted` is true. */
  chunks: number
  /** Characters of text in those chunks, without overlaps. */
  characters: number
  extracted: boolean
  /** Pages of it are pictures: it is read when there is a place for that. */
  has_scans?: boolean
  /** Only when it was read and pages of it were pictures. */
  scan?: Scan
  /**
   * Number of chunks whose vectors are stored. These are always the first ones, so that a retry continues from
   * here.
   */
  embedded: number
  /** The generation of the space that has all of its vectors (`domain/knowledge/vector-space.ts`); absent: 0. */
  generation?: number
  /** Set while a ready file is embedded anew: how many of its chunks, from the first, have vectors in that space. */
  next?: { generation: number; embedded: number }
  created_at: Date
  updated_at: Date
}

export interface FileOfPage {
  source_id: string
  page_id: string
  /** From where the text was read. */
  url: string
  title?: string
}

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
