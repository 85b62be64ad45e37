import type { Readable } from 'node:stream'
import type { Chunk } from '../../domain/chunking/chunker.ts'

/** Reads files in a place where they can do no harm; `infra/extract` is it. */
export interface Extraction {
  /**
   * The chunks of a file, in order, as they are read: nothing is held but what the caller has not yet
   * taken. The same file gives the same chunks again. Throws `UnreadableFile`, the content's own error,
   * and the signal's reason when aborted: the process that reads is killed at that moment.
   */
  extract(file: FileToRead, signal?: AbortSignal): AsyncGenerator<Chunk, { contentType: string }>
}

export interface FileToRead {
  name: string
  /** Bytes. */
  size: number
  /** Opens the content; called once. */
  content: () => Readable
  /** Whose file it is. One process may read files of one owner, one after the other, and of nobody else. */
  owner: string
}
