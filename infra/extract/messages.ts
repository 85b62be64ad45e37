import type { Chunk } from '../../domain/chunking/chunker.ts'
import type { UnreadableReason } from '../../domain/knowledge/unreadable-file.ts'

/** What a process that reads is asked, over its IPC channel. */
export interface ExtractionJob {
  path: string
  name: string
  maxTokens: number
  overlapTokens: number
}

/** What it answers on standard output, one JSON text a line; `end` or `failed` is the last of a job. */
export type ExtractionLine =
  | { chunk: Chunk }
  | { end: { contentType: string } }
  | { failed: { reason: UnreadableReason; message: string } }
