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
   * Stores a stream without holding more than a few pieces of it, hashing it on the way. When the
   * stream breaks, what was stored is removed and the stream's error is thrown.
   */
  write(blobId: string, source: Readable): Promise<StoredBlob>
  /** The stream fails when bytes are missing, such as when they are being deleted. */
  read(blobId: string): Readable
  /** Removes also the remains of a write that was cut off. A missing blob is no error. */
  delete(blobId: string): Promise<void>
  /** How many of these blobs still have bytes, complete or not. */
  count(blobIds: string[]): Promise<number>
  /** Blobs, complete or not, begun before the given time. */
  listBefore(time: Date): AsyncIterable<string>
}
