import type { ObjectUpload } from '../../services/object-store.ts'

/** A blob as the places of bytes know it. */
export interface LocatedBlob {
  /** 24 hexadecimal digits, which begin with the time of its making in seconds. */
  id: string
  owner: string
}

/** Which bytes to read. `chunkSize`: of the pieces in the database, as the blob's document says it. */
export interface BytesWanted {
  length: number
  from: number
  chunkSize: number
}

/** A place for the bytes of blobs. Their documents, which say what belongs to whom, stay in the database. */
export interface BlobLocation {
  /** What the documents call it: `database`, or bucket and prefix as `s3://bucket/prefix`. */
  readonly name: string
  readonly pieceBytes: number
  write(blob: LocatedBlob): ObjectUpload
  /** The bytes from `from` on. Fails with `internal` if some are missing. */
  read(blob: LocatedBlob, wanted: BytesWanted): AsyncGenerator<Uint8Array>
  /** Removes everything of the blobs, and makes sure of it. */
  remove(blobs: LocatedBlob[]): Promise<void>
  /** Everything that an owner has here, also what no document names. The database keeps no owners of bytes. */
  removeOf(owner: string): Promise<void>
  ofOwner(owner: string): AsyncGenerator<LocatedBlob>
  /** Blobs with bytes that were begun before the time. The owner is missing where bytes do not say it. */
  before(time: Date): AsyncGenerator<{ id: string; owner?: string }>
}
