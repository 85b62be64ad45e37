/** An upload under way. Nobody sees the object before `complete`. */
export interface ObjectUpload {
  /**
   * Stores the next piece; all but the last are `pieceBytes` long. Resolves when the pieces before it are stored, so
   * that two buffers used in turns are enough.
   */
  add(bytes: Buffer): Promise<void>
  /** Makes the object of the pieces. Throws `not_found` if the upload was removed meanwhile. */
  complete(): Promise<void>
  /** Gives up; resolves when nothing reads the buffers any more. What was stored stays until `remove`. */
  abandon(): Promise<void>
}

/** An object as a list shows it. */
interface StoredObject {
  key: string
  modifiedAt: Date
}

/**
 * A store of objects under keys, beside the database. Its methods throw `unavailable` while the store does not answer,
 * after a few attempts.
 */
export interface ObjectStore {
  /** Bucket and prefix as `s3://bucket/prefix`: the same for the same objects, also at another address. */
  readonly name: string
  /** Length of the pieces of an upload, in bytes. */
  readonly pieceBytes: number
  /** Stores an object piece by piece; an object under the same key is replaced when it is complete. */
  upload(key: string): ObjectUpload
  /** Stores a small object if there is none under the key; false if there is another one. */
  create(key: string, bytes: Buffer): Promise<boolean>
  /**
   * The bytes of an object of this length, beginning at `from`. A broken answer is continued where it broke. Fails with
   * `internal` if the object is missing or has another length.
   */
  read(key: string, length: number, from?: number): AsyncGenerator<Uint8Array>
  /**
   * Removes what stands under the prefix: every version, every marker of a deletion, every unfinished upload. Lists it
   * again afterwards, and throws `unavailable` if anything is left.
   */
  remove(prefix: string): Promise<void>
  /** The keys under the prefix, in order, of everything that `remove` would remove; one may come several times. */
  everything(prefix: string): AsyncGenerator<StoredObject>
  /** Rejects if the store cannot be used; the error says why. */
  ping(): Promise<void>
}
