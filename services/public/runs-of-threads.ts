import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import type { Page } from '../page.ts'
import { type ListedRun, runBytes } from '../runs/index.ts'
import { runStore } from '../stores/runs.ts'
import { findThread, missing } from './find-thread.ts'
import { type ThreadOwner, publicRunStore } from './store.ts'
import { type PageQuery, storedPage } from '../cursor-page.ts'

/** The runs of threads in the assistants API, for reading. */
export function createRunsOfThreads(collections: Pick<Collections, 'threads' | 'runs'>) {
  return {
    findRun,

    async runs(owner: ThreadOwner, threadId: string, page: PageQuery): Promise<Page<ListedRun>> {
      await findThread(collections, owner, threadId, 'see')
      return storedPage(page, {
        find: (id) => findRun(owner, threadId, id),
        read: (range, sort) => publicRunStore(collections).listInThread(threadId, range, sort),
        bytesOf: runBytes,
        isById: true,
      })
    },
  }

  async function findRun(owner: ThreadOwner, threadId: string, runId: string): Promise<RunRecord> {
    await findThread(collections, owner, threadId, 'see')
    const run = await runStore(collections).findInThread({ _id: runId, thread_id: threadId })
    if (run === null) throw missing('run')
    return run
  }
}
