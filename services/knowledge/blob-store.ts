import type { Readable } from 'node:stream'

export interface StoredBlob {
  blobId: string
  size: number
  /** Lower-case hexadecimal. */
  sha256: string
}

/** The store of the bytes of uploaded files. */
export interface BlobStore {
  /** A new id, so that the record can be stored before the first byte. */
  newBlobId(): string
  /**
   * Stores a stream and hashes it on the way, with only a few pieces in memory. The owner is stored before the
   * first byte. If the stream breaks, the stored bytes are removed and the stream's error is thrown; `not_found` if
   * the blob was deleted in the meantime.
   */
  write(blobId: string, assistantId: string, source: Readable): Promise<StoredBlob>
  /** The stream fails if bytes are missing, for example because they are being deleted. */
  read(blobId: string): Readable
  /** Also removes the remains of interrupted writes. A missing blob is not an error. */
  delete(blobIds: string[]): Promise<void>
  /** Removes all blobs of an assistant, complete or not. */
  deleteOf(assistantId: string): Promise<void>
  /** Number of blobs of an assistant, complete or not. */
  countOf(assistantId: string): Promise<number>
  /** Whether anything is left of a blob, complete or not. */
  exists(blobId: string): Promise<boolean>
  /** Blobs, complete or not, begun before the given time. */
  listBefore(time: Date): AsyncIterable<string>
}
