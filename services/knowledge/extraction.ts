import type { Chunk } from '../../domain/chunking/chunker.ts'

/** Reads files in a place where they can do no harm; `infra/extract` is it. */
export interface Extraction {
  /**
   * The chunks of a file on disk, in order; the same file gives the same chunks again. Throws
   * `UnreadableFile`, and the signal's reason when aborted.
   */
  extract(path: string, name: string, signal?: AbortSignal): AsyncGenerator<Chunk, { contentType: string }>
}
