import type { Readable } from 'node:stream'
import type { ChunkerOptions } from '../../domain/chunking/chunker-options.ts'
import type { Chunk } from '../../domain/chunking/chunker.ts'
import type { Scan } from '../../domain/knowledge/scan.ts'

/** Reads files where they can do no harm; implemented by `infra/extract`. */
export interface Extraction {
  /**
   * The chunks of a file, in order, as they are read; only chunks that the caller has not taken yet are in memory.
   * The same file always gives the same chunks. Throws `UnreadableFile`, the error of the content stream, and the
   * signal's reason when aborted: then the reader is killed at once.
   */
  extract(file: FileToRead, signal?: AbortSignal): AsyncGenerator<Chunk, FileRead>
}

/** What is known of a file when all of it was read. */
export interface FileRead {
  contentType: string
  /** Only if pages of it were pictures. */
  scan?: Scan | undefined
}

export interface FileToRead {
  name: string
  /** Bytes. */
  size: number
  /** Opens the content; called once. */
  content: () => Readable
  /** How it is cut into chunks; undefined: as the reader does by itself. */
  chunking?: ChunkerOptions | undefined
  /** The owner of the file. One process reads only files of one owner, one after the other. */
  owner: string
}
