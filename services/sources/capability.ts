import { sourceRecord } from '../../domain/records/source.ts'
import { type Restores, refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import type { Store } from '../owned-data/data-store.ts'
import { timetableStore } from '../owned-data/timetable-store.ts'
import { assistantStore } from '../stores/assistants.ts'
import { sourceStore } from '../stores/sources.ts'
import type { Sources } from './index.ts'
import type { RefreshTimetable } from './refresh-timetable.ts'

interface RestoreDeps {
  collections: Pick<Collections, 'sources' | 'assistants'>
  sources: Pick<Sources, 'restore'>
}

/** What others need of sources; the records, their owners and lines in archives are declared. */
export const sourcesCapability = {
  /** What they are told; their pages are read again when their owner, or their time, says so. */
  restore: ({ collections, sources }: RestoreDeps): Pick<Restores, 'sources'> => ({
    async sources(userId, archived, idOf) {
      const id = idOf('source', archived.source_id)
      if (await sourceStore(collections).hasOwned(userId, id)) return 'existing'
      const assistant = await assistantStore(collections).findOwned(userId, idOf('assistant', archived.assistant_id))
      if (assistant === null) throw refused('its assistant was not imported')
      await sources.restore(assistant, id, archived, new Date(archived.created_at))
      return 'imported'
    },
  }),

  /** The schedules at Temporal go first. Files are deleted with the assistant's. */
  stores: ({
    collections,
    refreshes,
  }: {
    collections: Pick<Collections, 'sources'>
    refreshes: RefreshTimetable
  }): Store[] => [
    timetableStore({
      name: 'temporal_refreshes',
      records: collections.sources,
      fields: sourceRecord.owners,
      stop: { $set: { deleting: true }, $unset: { crawl_id: 1 } },
      timetable: refreshes,
    }),
  ],
}
