/**
 * `uploading` is shown to nobody. A `failing` file still has chunks or vectors that are being removed;
 * it is shown as `processing`, so that nobody tries again before that is done.
 */
export const fileStatuses = ['uploading', 'queued', 'processing', 'failing', 'ready', 'failed'] as const
export type FileStatus = (typeof fileStatuses)[number]

/** Of files on which there is work left to do. */
export const openFileStatuses = ['uploading', 'queued', 'processing'] as const satisfies FileStatus[]

export function isOpenFile({ status }: Pick<FileRecord, 'status'>): boolean {
  return openFileStatuses.some((open) => open === status)
}

/** A file of an assistant's knowledge. */
export interface FileRecord {
  _id: string
  assistant_id: string
  user_id: string
  ingestion_id: string
  /** Place within its upload, from 0: files are processed in this order. */
  order: number
  name: string
  content_type: string
  /** Bytes; known when the whole file has arrived. */
  size: number
  sha256: string
  /** Id of the bytes in GridFS. */
  blob_id: string
  status: FileStatus
  /** Why a failed file failed, in words for its owner. */
  error?: string
  /** Of a failed file: whether the failure was the service's, so that another try makes sense. Missing in old records. */
  retryable?: boolean
  /** How often its owner had it tried again. */
  retries?: number
  /** Chunks written so far. Final once `extracted` is true. */
  chunks: number
  /** Characters of text in those chunks, overlap not counted twice. */
  characters: number
  extracted: boolean
  /** Chunks whose vectors are stored: always the first ones, so that a retry goes on from here. */
  embedded: number
  created_at: Date
  updated_at: Date
}

/** A piece of a file, as it is embedded, found and quoted. Its id is `{file_id}:{position}`. */
export interface ChunkRecord {
  _id: string
  file_id: string
  assistant_id: string
  /** From 0, without gaps. */
  position: number
  text: string
  tokens: number
  page?: number
  heading?: string
}

export function chunkId(fileId: string, position: number): string {
  return `${fileId}:${position}`
}
