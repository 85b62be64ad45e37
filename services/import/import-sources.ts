import type { ReadRecords } from '../../domain/archive/items.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import type { Sources } from '../sources/index.ts'
import type { Import } from './import.ts'
import { refused, settle } from './report.ts'

export interface ImportSourcesDeps {
  collections: Pick<Collections, 'sources' | 'assistants'>
  sources: Pick<Sources, 'restore'>
}

/** Stores what the sources of an archive are told; their pages are read again when their owner, or their time, says so. */
export function createSourceImport({ collections, sources }: ImportSourcesDeps, { userId, idOf, report }: Import) {
  return (archived: ReadRecords['sources']) =>
    settle(report, 'sources', archived.source_id, async () => {
      const id = idOf('source', archived.source_id)
      if ((await collections.sources.exists({ _id: id, user_id: userId })) !== null) return 'existing'
      const own = { _id: idOf('assistant', archived.assistant_id), user_id: userId }
      const assistant = await collections.assistants.findOne(own).lean<AssistantRecord>()
      if (assistant === null) throw refused('its assistant was not imported')
      await sources.restore(assistant, id, archived, new Date(archived.created_at))
      return 'imported'
    })
}
