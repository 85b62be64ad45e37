import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { SourcePageRecord, SourcePageStatus, SourceRecord } from '../../domain/records/source.ts'
import type { Collections } from '../collections.ts'
import type { Page, PageRange } from '../page.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'

/** A source and how far it is. */
export interface SourceView {
  source: SourceRecord
  counts: Record<SourcePageStatus, number>
  /** Pages that can be found. */
  pages: number
}

export type Owner = Pick<AssistantRecord, '_id' | 'user_id'>

export function createSourceReads(collections: Pick<Collections, 'sources' | 'sourcePages'>) {
  const sources = sourceStore(collections)
  const pages = sourcePageStore(collections)

  async function find(assistant: Owner, sourceId: string): Promise<SourceRecord> {
    const source = await sources.findOwned(assistant, sourceId)
    if (source === null) throw missing()
    return source
  }

  const view = async (source: SourceRecord): Promise<SourceView> => ({ source, ...(await pages.countOwned(source)) })

  return {
    find,
    view,

    get: async (assistant: Owner, sourceId: string) => view(await find(assistant, sourceId)),

    /** Newest first. */
    async list(assistant: Owner, range: PageRange): Promise<Page<SourceView>> {
      const { entries, hasMore } = await sources.listOwned(assistant, range)
      return { entries: await Promise.all(entries.map(view)), hasMore }
    },

    /** In the order in which they are visited. */
    async pages(
      assistant: Owner,
      sourceId: string,
      { status, ...range }: PageRange & { status?: SourcePageStatus },
    ): Promise<Page<SourcePageRecord>> {
      const { _id } = await find(assistant, sourceId)
      return pages.listOwned(assistant.user_id, _id, status, range)
    },
  }
}

export function missing(): AppError {
  return new AppError('not_found', 'There is no such source.')
}
