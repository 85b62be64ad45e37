import type { EntryId } from '../../domain/ids.ts'
import type { RunEntry } from '../../domain/run-events.ts'

export interface StreamBatch {
  id: EntryId
  entries: RunEntry[]
  /** The id of the batch before it, if the publication says it. */
  before?: EntryId
}

/** The id of what was published, and the id of what was in the stream before it. */
export type Publication = Required<Pick<StreamBatch, 'id' | 'before'>>

export interface StreamListener {
  receive(batch: StreamBatch): void
  /** The subscription is broken: from now on batches are missed. */
  lost(): void
  /** It works again, and the stream can be read. */
  back(): void
}

/** A run's stream, as `infra/redis` keeps it. */
export interface RunStream {
  /**
   * Appends entries and notifies subscribers. Null if a writer with a larger fence has written before: then nothing
   * is written.
   */
  publish(runId: string, fence: number, entries: RunEntry[]): Promise<Publication | null>
  /** As `publish`, and tells attempts with an older fence to stop, in whichever process they run. */
  supersede(runId: string, fence: number, entries: RunEntry[]): Promise<Publication | null>
  /** Receives the runs that have been ended or taken over, until the returned function is called. */
  onSuperseded(listener: (runId: string, fence: number) => void): Promise<() => Promise<void>>
  /** Tells all processes that execute steps to forget what they hold of these threads. */
  forgetThreads(threadIds: string[]): Promise<void>
  /** Receives the threads to forget, until the returned function is called. */
  onForgotten(listener: (threadIds: string[]) => void): Promise<() => Promise<void>>
  /**
   * As `publish`, but in the order of `place` (0, 1, …) within `group`: an early entry waits for those before it,
   * and a place that was published before is skipped.
   */
  publishInTurn(
    runId: string,
    fence: number,
    turn: { group: number; place: number },
    entries: RunEntry[],
  ): Promise<void>
  /** The kept entries of the stream after `afterId`, oldest first. */
  read(runId: string, afterId?: EntryId): Promise<StreamBatch[]>
  /** Receives every batch published from now on, until the returned function is called. */
  subscribe(runId: string, listener: StreamListener): Promise<() => Promise<void>>
  /** Removes what the streams of runs say. Their fences stay, so that no attempt writes it again. */
  erase(runIds: string[]): Promise<void>
  /** Removes the streams of runs; returns the number of keys. */
  remove(runIds: string[]): Promise<number>
  count(runIds: string[]): Promise<number>
}
