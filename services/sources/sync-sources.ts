import { crawlContract } from '../../domain/contracts/crawl.ts'
import { deadCrawlMs } from '../../domain/records/source.ts'
import type { Collections } from '../collections.ts'
import { leasedSweep } from '../leased-sweep.ts'
import { sourceStore } from '../stores/sources.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { RefreshTimetable } from './refresh-timetable.ts'

interface SyncSourcesDeps {
  collections: Pick<Collections, 'sources'>
  workflows: Pick<WorkflowClient, 'start'>
  refreshes: RefreshTimetable
}

/** Longer than a comparison takes. If a process dies during one, another compares the source after this time. */
const leaseMs = 60_000
/** How often a source is compared although nothing was changed, because Temporal may have lost it. */
const compareEveryMs = 3_600_000
const maxPerRound = 200

export type SyncSource = ReturnType<typeof createSyncSource>

/**
 * Makes the schedule at Temporal what a source says, and starts its crawl if one waits. Safe to repeat: whoever changes
 * a source sets `check_at`, so that a worker does this if the process dies before.
 */
export function createSyncSource({ collections, workflows, refreshes }: SyncSourcesDeps) {
  const sources = sourceStore(collections)
  return async (sourceId: string): Promise<void> => {
    const source = await sources.findOfAny(sourceId)
    if (source === null || source.deleting) return
    if (source.refresh !== undefined || source.revision > 1) await refreshes.put(source)
    const isDead = source.status === 'crawling' && (source.alive_at ?? new Date(0)).getTime() < Date.now() - deadCrawlMs
    if (source.status === 'queued' || isDead) {
      await workflows.start(crawlContract, {
        sourceId,
        // One start for each round: a repeated one joins it.
        crawlKey: String(source.round + 1),
        userId: source.user_id,
        assistantId: source.assistant_id,
      })
    }
    const later = source.status === 'ready' || source.status === 'failed' ? compareEveryMs : deadCrawlMs
    await sources.noteCompared(source, new Date(Date.now() + later * (0.5 + Math.random())))
    // A put beside a deletion has brought the schedule back.
    if (!(await sources.isPresentOfAny(sourceId))) await refreshes.remove(sourceId)
  }
}

/** Compares sources that are due with Temporal. */
export function createSourceSweep({
  collections,
  sync,
  onError,
}: {
  collections: Pick<Collections, 'sources'>
  sync: SyncSource
  onError(error: unknown): void
}) {
  const sources = sourceStore(collections)
  return (): Promise<number> =>
    leasedSweep({ due: (now) => sources.leaseDueOfAny(now, leaseMs), work: sync, onError, perRound: maxPerRound })
}
