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
}

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

export interface FileStepInput {
  fileId: string
  assistantId: string
}

/** `waiting`: all chunks so far are embedded, and more are being extracted. */
export type EmbedStepResult = 'ready' | 'failed' | 'gone' | 'waiting'

export const fileDeletionWorkflowType = 'fileDeletionWorkflow'

export function fileDeletionWorkflowId(fileId: string): string {
  return `file-deletion/${fileId}`
}

export interface FileDeletionInput extends FileStepInput {
  blobId: string
}
