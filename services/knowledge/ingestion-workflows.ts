import type { FileDeletionInput, IngestionInput, IngestionProgress } from '../../domain/contracts/ingestion.ts'

/** The way to the workflows of files. All throw `unavailable` when nobody answers. */
export interface IngestionWorkflows {
  /** Answers as soon as the start is durable. Starting the same ingestion again changes nothing. */
  start(input: IngestionInput & { projectId: string; userId: string }): Promise<void>
  /** Settles when the ingestion is over, however long that takes, or `signal` aborts. */
  finished(ingestionId: string, signal: AbortSignal): Promise<void>
  /** Undefined when there is no such ingestion any more. */
  progress(ingestionId: string): Promise<IngestionProgress | undefined>
  /** Tells an ingestion that one of its files was deleted. One that is over need not know. */
  fileDeleted(ingestionId: string, fileId: string): Promise<void>
  /** Starts the deletion of a file, or joins the one that is under way. */
  deleteFile(input: FileDeletionInput): Promise<void>
  /**
   * True when the file and all that belongs to it is gone; false when that takes longer than a request
   * may wait. Throws `internal` when the deletion was broken off.
   */
  fileDeletionEnded(fileId: string): Promise<boolean>
}
