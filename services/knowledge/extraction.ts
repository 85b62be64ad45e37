import type { Chunk } from '../../domain/chunking/chunker.ts'

/** Reads files in a place where they can do no harm; `infra/extract` is it. */
export interface Extraction {
  /**
   * The chunks of a file on disk, in order; the same file gives the same chunks again. Throws
   * `UnreadableFile`, and the signal's reason when aborted. Nothing of one owner's files is near another's.
   */
  extract(
    path: string,
    name: string,
    options?: { signal?: AbortSignal; owner?: string },
  ): AsyncGenerator<Chunk, { contentType: string }>
}
