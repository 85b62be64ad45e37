import { cleanupContract } from '../../domain/contracts/cleanup.ts'
import { deletionContract } from '../../domain/contracts/deletion.ts'
import { fileDeletionContract } from '../../domain/contracts/file-deletion.ts'
import { newId } from '../../domain/ids.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import { dayOf } from '../../domain/records/budget.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import { deletionOf } from '../knowledge/files.ts'
import { unstoredMs } from '../public/threads.ts'
import { expiredFileStore } from '../stores/files.ts'
import { runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import { userStore } from '../stores/users.ts'
import { vectorStoreStore } from '../stores/vector-stores.ts'
import { startThreadDeletion } from '../threads/start-thread-deletion.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { each } from './each.ts'

/** Undefined: kept for as long as the owner keeps it. */
interface RetentionSettings {
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

interface ExpiryDeps {
  collections: Pick<Collections, 'assistants' | 'files'>
  workflows: Pick<WorkflowClient, 'start'>
  blobs: Pick<BlobStore, 'delete'>
}

/**
 * Deletes vector stores, files of projects and unfinished uploads whose time is over: they leave receipts, as if their
 * owner had deleted them. At most `limit` of each kind.
 */
export function createExpiry({ collections, workflows, blobs }: ExpiryDeps) {
  const files = expiredFileStore(collections)
  const stores = vectorStoreStore(collections)

  /** Uploads that were not completed, and their parts. Nobody has seen them as files, so that they leave no receipt. */
  async function removeUnfinished(now: Date, limit: number): Promise<void> {
    await each(await files.unfinishedOfAny(now, limit), async (file) => {
      // First, because it may be completed at this moment: then the bytes are those of a file.
      if (await files.removeUnfinished(file)) await blobs.delete([file.blob_id])
    })
  }

  return {
    async vectorStores(now: Date, limit: number): Promise<void> {
      const due = await stores.listExpiredOfAny(now, limit)
      await each(due, async ({ _id: id, user_id: userId, project_id: projectId }) => {
        // A search in the meantime has given it more time: only one of both statements finds its condition.
        if (!(await stores.markExpiredOfAny(id, now))) return
        await workflows.start(deletionContract, { kind: 'vector_store', id, userId, projectId, receiptId: newId() })
      })
    },

    async files(now: Date, limit: number): Promise<void> {
      await removeUnfinished(now, limit)
      await each(await files.expiredOfAny(now, limit), (file) =>
        workflows.start(fileDeletionContract, {
          ...deletionOf(file),
          userId: file.user_id,
          projectId: projectOf(file.assistant_id) ?? '',
        }),
      )
    },
  }
}
