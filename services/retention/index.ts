import { cleanupContract } from '../../domain/contracts/cleanup.ts'
import { dayOf } from '../../domain/records/budget.ts'
import { type RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import { unstoredMs } from '../public/threads.ts'
import { runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import { userStore } from '../stores/users.ts'
import { startThreadDeletion } from '../threads/start-thread-deletion.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { each } from './each.ts'
import { createExpiry } from './expired-knowledge.ts'

/** Undefined: kept for as long as the owner keeps it. */
export interface RetentionSettings {
  retainPublicThreadsDays: number
  retainPendingAccountsDays: number | undefined
  retainWaitingRunsDays: number | undefined
}

interface RetentionDeps {
  collections: Pick<Collections, 'users' | 'threads' | 'runs' | 'assistants' | 'files'>
  workflows: Pick<WorkflowClient, 'start'>
  runs: { cancel(run: RunRecord): Promise<unknown> }
  blobs: Pick<BlobStore, 'delete'>
  settings: RetentionSettings
}

const dayMs = 86_400_000
/** Limit of a round for each kind, so that the queue of deletions is not flooded. */
const perRound = 200

type Owned = Pick<ThreadRecord, '_id' | 'user_id' | 'project_id' | 'created_at'>

/**
 * Deletes data whose retention time has passed. Each removal is one that an owner can request, with its receipt.
 * Several processes may execute rounds at the same time: they join each other's deletions.
 */
export function createRetention({ collections, workflows, runs: { cancel }, blobs, settings }: RetentionDeps) {
  const threads = threadStore(collections)
  const runs = runStore(collections)
  const expiry = createExpiry({ collections, workflows, blobs })

  /** One round. A failure of one part does not keep the others from running; all failures are thrown at the end. */
  return async (clock: () => number = Date.now): Promise<void> => {
    const now = clock()
    const before = (days: number) => new Date(now - days * dayMs)
    const { retainPublicThreadsDays, retainPendingAccountsDays, retainWaitingRunsDays } = settings
    const parts: Promise<unknown>[] = [
      deleteUnstoredThreads(now),
      deletePublicThreads(before(retainPublicThreadsDays)),
      expiry.vectorStores(new Date(now), perRound),
      expiry.files(new Date(now), perRound),
    ]
    if (retainPendingAccountsDays !== undefined)
      parts.push(deletePendingAccounts(before(retainPendingAccountsDays), now))
    if (retainWaitingRunsDays !== undefined) parts.push(cancelWaitingRuns(before(retainWaitingRunsDays)))
    throwFailures(await Promise.allSettled(parts))
  }

  /** Threads of completions with `store: false` that the process which answered did not delete. */
  async function deleteUnstoredThreads(now: number): Promise<void> {
    const due = await threads.listDueOfAny({ expires_at: { $lt: new Date(now) } }, perRound)
    await each(due, async (thread) => {
      // Its caller may still be reading. A run that waits for a person can stay open for ever.
      if (thread.created_at.getTime() > now - dayMs && (await runs.hasOpenInThread(thread._id)))
        await threads.expireAtOfAny(thread._id, new Date(now + unstoredMs))
      else await deleteThread(thread)
    })
  }

  async function deletePublicThreads(before: Date): Promise<void> {
    await each(await threads.listDueOfAny({ public: true, updated_at: { $lt: before } }, perRound), deleteThread)
  }

  function deleteThread(thread: Owned): Promise<void> {
    return startThreadDeletion(workflows, thread)
  }

  async function deletePendingAccounts(created: Date, now: number): Promise<void> {
    if (!(await userStore(collections).hasUnverifiedOfAny(created))) return
    await workflows.start(cleanupContract, {
      kind: 'unverified-users',
      dryRun: false,
      before: created.toISOString(),
      cleanupId: `retention-${dayOf(new Date(now))}`,
    })
  }

  async function cancelWaitingRuns(created: Date): Promise<void> {
    await each(await runs.listWaitingOfAny(created, perRound), cancel)
  }
}

function throwFailures(results: PromiseSettledResult<unknown>[]): void {
  const failures: unknown[] = []
  for (const result of results) if (result.status === 'rejected') failures.push(result.reason)
  if (failures.length > 0) throw new AggregateError(failures, 'parts of the retention failed')
}
