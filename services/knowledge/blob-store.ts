import type { Readable } from 'node:stream'

export interface StoredBlob {
  blobId: string
  size: number
  /** Lower-case hexadecimal. */
  sha256: string
}

/** Where the bytes of uploaded files are. */
export interface BlobStore {
  /** A new id, so that the owner can be recorded before the first byte is stored. */
  newBlobId(): string
  /**
   * Stores a stream without holding more than a few pieces of it, hashing it on the way. Whose it is
   * stands in the store before the first byte. When the stream breaks, what was stored is removed and
   * the stream's error is thrown; `not_found` when the blob was deleted meanwhile.
   */
  write(blobId: string, assistantId: string, source: Readable): Promise<StoredBlob>
  /** The stream fails when bytes are missing, such as when they are being deleted. */
  read(blobId: string): Readable
  /** Removes also the remains of writes that were cut off. A missing blob is no error. */
  delete(blobIds: string[]): Promise<void>
  /** Removes all blobs of an assistant, complete or not. */
  deleteOf(assistantId: string): Promise<void>
  /** How many blobs of an assistant there are, complete or not. */
  countOf(assistantId: string): Promise<number>
  /** Whether anything is left of a blob, complete or not. */
  exists(blobId: string): Promise<boolean>
  /** Blobs, complete or not, begun before the given time. */
  listBefore(time: Date): AsyncIterable<string>
}
