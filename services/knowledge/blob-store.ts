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
  /**
   * Makes a blob of others, in their order, without copying them: they become parts of it, are read and deleted with it,
   * and no more by themselves. Throws `conflict` for one that is part of another blob or is gone; then nothing changes.
   */
  join(blobId: string, assistantId: string, parts: { blobId: string; size: number }[]): Promise<void>
  /** The parts of a blob are blobs of their own again, and the blob is gone. */
  unjoin(blobId: string): Promise<void>
  /** The stream fails if bytes are missing, for example because they are being deleted. */
  read(blobId: string): Readable
  /** Also removes the remains of interrupted writes. A missing blob is not an error, a part of another one stays. */
  delete(blobIds: string[]): Promise<void>
  /** Removes all blobs of an assistant, complete or not. */
  deleteOf(assistantId: string): Promise<void>
  /** Number of blobs of an assistant, complete or not. */
  countOf(assistantId: string): Promise<number>
  /** Whether anything is left of a blob, complete or not. */
  exists(blobId: string): Promise<boolean>
  /** Blobs, complete or not, begun before the given time, without parts of others. */
  listBefore(time: Date): AsyncIterable<string>
}
