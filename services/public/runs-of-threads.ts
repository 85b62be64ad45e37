import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { type Page, readPage } from '../page.ts'
import { type ListedRun, runBytes, withoutInput } from '../runs/index.ts'
import { type ThreadOwner, findThread, missing } from './find-thread.ts'
import type { PageQuery } from '../cursor-page.ts'

/** The runs of threads in the assistants API, for reading. */
export function createRunsOfThreads(collections: Pick<Collections, 'threads' | 'runs'>) {
  return {
    findRun,

    async runs(owner: ThreadOwner, threadId: string, page: PageQuery): Promise<Page<ListedRun>> {
      await findThread(collections, owner, threadId)
      if (page.after !== undefined) await findRun(owner, threadId, page.after)
      if (page.before !== undefined) await findRun(owner, threadId, page.before)
      // Ids are time-ordered. With only `before`, the nearest entries are wanted, so the list is read backwards.
      const backwards = page.before !== undefined && page.after === undefined
      const ascending = (page.order === 'asc') !== backwards
      const [first, last] = page.order === 'asc' ? (['$gt', '$lt'] as const) : (['$lt', '$gt'] as const)
      const range = {
        ...(page.after === undefined ? {} : { [first]: page.after }),
        ...(page.before === undefined ? {} : { [last]: page.before }),
      }
      const query = collections.runs
        .find({ thread_id: threadId, ...(Object.keys(range).length > 0 ? { _id: range } : {}) }, withoutInput)
        .sort({ _id: ascending ? 1 : -1 })
        .lean<ListedRun>()
      const { entries, hasMore } = await readPage(query, { limit: page.limit, offset: 0 }, runBytes)
      return { entries: backwards ? entries.toReversed() : entries, hasMore }
    },
  }

  async function findRun(owner: ThreadOwner, threadId: string, runId: string): Promise<RunRecord> {
    await findThread(collections, owner, threadId)
    const run = await collections.runs.findOne({ _id: runId, thread_id: threadId }).lean<RunRecord>()
    if (run === null) throw missing('run')
    return run
  }
}
