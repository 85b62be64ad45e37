import type { EntryId, RunEntry } from '../../domain/run-events.ts'

export interface StreamBatch {
  id: EntryId
  entries: RunEntry[]
}

/** A run's stream, as `infra/redis` keeps it. */
export interface RunStream {
  /**
   * Appends entries and tells subscribers. Null when a writer with a larger fence has been here:
   * then nothing was written.
   */
  publish(runId: string, fence: number, entries: RunEntry[]): Promise<EntryId | null>
  /** What is kept of the stream after `afterId`, oldest first. */
  read(runId: string, afterId?: EntryId): Promise<StreamBatch[]>
  /** Hears every batch published from now on, until the returned function is called. */
  subscribe(runId: string, listener: (batch: StreamBatch) => void): Promise<() => Promise<void>>
  /** Hears that the subscription was broken and is back: batches may have been missed. */
  onReconnect(listener: () => void): () => void
  /** Removes streams of runs; answers how many keys there were. */
  remove(runIds: string[]): Promise<number>
  count(runIds: string[]): Promise<number>
}
