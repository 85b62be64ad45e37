/** Messages of the `ingestion` workflow. Ids and small facts only; the files' own words stay in the database. */
export const ingestionWorkflowType = 'ingestionWorkflow'

export function ingestionWorkflowId(ingestionId: string): string {
  return `ingestion/${ingestionId}`
}

export interface IngestionInput {
  ingestionId: string
  assistantId: string
  /** In the order in which they are processed. */
  fileIds: string[]
  /** Set when failed files are tried again: for the how many'th time. */
  retry?: number
  /** How long a step may wait in all for stores and model servers that are away. */
  patienceHours?: number
  /** Set when a long ingestion goes on in a new execution: what the files before these came to. */
  outcomes?: Record<string, FileOutcome>
}

export const defaultPatienceHours = 168

/** What a file came to. `gone`: it was deleted meanwhile. */
export type FileOutcome = 'ready' | 'failed' | 'gone'

export interface IngestionResult {
  ready: number
  failed: number
  gone: number
}

/** Query: how far the ingestion is. */
export const ingestionProgressQueryName = 'progress'
export interface IngestionProgress {
  total: number
  /** The file that is being processed now. */
  current: string | null
  outcomes: Record<string, FileOutcome>
}

/** Signal: a file of the upload was deleted. Sent when its record is gone, so that a new step would find nothing to do. */
export const fileDeletedSignalName = 'fileDeleted'
export interface FileDeletedSignal {
  fileId: string
}

export interface FileStepInput {
  fileId: string
  assistantId: string
}

/** `busy`: too many files wait for their turn already, of this user or in all. */
export type ExtractStepResult = 'done' | 'gone' | 'busy'

/** `waiting`: all chunks so far are embedded, and more are being extracted. */
export type EmbedStepResult = 'ready' | 'failed' | 'gone' | 'waiting'

/**
 * The kinds of failure that tell of a store or a model server that is away. They say nothing about the
 * file and are waited out.
 */
export const outageTypes = ['unavailable', 'too_many_requests', 'upstream_failed', 'timed_out'] as const

/** The process that reads died: perhaps through the file, perhaps not. */
export const readerFailedType = 'reader_failed'

export const fileDeletionWorkflowType = 'fileDeletionWorkflow'

export function fileDeletionWorkflowId(fileId: string): string {
  return `file-deletion/${fileId}`
}

export interface FileDeletionInput extends FileStepInput {
  blobId: string
  /** The ingestion that may be processing the file. Missing in old inputs, like `userId`. */
  ingestionId?: string
  /** Whose file it is; the receipt shows it to nobody else. */
  userId?: string
}
