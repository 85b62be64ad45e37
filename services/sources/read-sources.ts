import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { SourcePageRecord, SourcePageStatus, SourceRecord } from '../../domain/records/source.ts'
import type { Collections } from '../collections.ts'
import { type Page, type PageRange, readPage } from '../page.ts'

/** A source and how far it is. */
export interface SourceView {
  source: SourceRecord
  counts: Record<SourcePageStatus, number>
  /** Pages that can be found. */
  pages: number
}

export type Owner = Pick<AssistantRecord, '_id' | 'user_id'>
/** Selects sources that are not being deleted. */
export const present = { deleting: { $ne: true } } as const

export function createSourceReads({ sources, sourcePages }: Pick<Collections, 'sources' | 'sourcePages'>) {
  async function find(assistant: Owner, sourceId: string): Promise<SourceRecord> {
    const source = await sources
      .findOne({ _id: sourceId, assistant_id: assistant._id, ...present })
      .lean<SourceRecord>()
    if (source === null) throw missing()
    return source
  }

  async function view(source: SourceRecord): Promise<SourceView> {
    const own = { source_id: source._id, user_id: source.user_id }
    const groups = await sourcePages.aggregate<{ _id: SourcePageStatus; count: number }>([
      { $match: { ...own, kind: 'page' } },
      { $group: { _id: '$status', count: { $sum: 1 } } },
    ])
    const counts = { waiting: 0, processing: 0, ready: 0, left_out: 0 }
    for (const { _id, count } of groups) counts[_id] = count
    return { source, counts, pages: await sourcePages.countDocuments({ ...own, file_id: { $exists: true } }) }
  }

  return {
    find,
    view,

    get: async (assistant: Owner, sourceId: string) => view(await find(assistant, sourceId)),

    /** Newest first. */
    async list(assistant: Owner, range: PageRange): Promise<Page<SourceView>> {
      const query = sources
        .find({ assistant_id: assistant._id, ...present })
        .sort({ _id: -1 })
        .lean<SourceRecord>()
      const { entries, hasMore } = await readPage(query, range, () => 4096)
      return { entries: await Promise.all(entries.map(view)), hasMore }
    },

    /** In the order in which they are visited. */
    async pages(
      assistant: Owner,
      sourceId: string,
      { status, ...range }: PageRange & { status?: SourcePageStatus },
    ): Promise<Page<SourcePageRecord>> {
      const { _id } = await find(assistant, sourceId)
      const query = sourcePages
        .find({ source_id: _id, user_id: assistant.user_id, ...(status === undefined ? {} : { status }) })
        .sort({ depth: 1, order: 1, _id: 1 })
        .lean<SourcePageRecord>()
      return readPage(query, range, () => 4096)
    },
  }
}

export function missing(): AppError {
  return new AppError('not_found', 'There is no such source.')
}
