import type { ReadRecords } from '../../domain/archive/items.ts'
import type { Collections } from '../collections.ts'
import type { Memories } from '../memory/index.ts'
import type { Import } from './import.ts'
import { settle } from './report.ts'

export interface ImportMemoriesDeps {
  collections: Pick<Collections, 'memories'>
  memories: Pick<Memories, 'create'>
}

/** Stores the facts of an archive; those beyond what a user may have, or whose assistant is missing, are refused. */
export function createMemoryImport({ collections, memories }: ImportMemoriesDeps, { userId, idOf, report }: Import) {
  return (archived: ReadRecords['memories']) =>
    settle(report, 'memories', archived.memory_id, async () => {
      const id = idOf('memory', archived.memory_id)
      if ((await collections.memories.exists({ _id: id, user_id: userId })) !== null) return 'existing'
      const { text, project_id, assistant_id, source_message_id } = archived
      const fact = {
        text,
        ...(project_id === undefined ? {} : { project_id: idOf('project', project_id) }),
        ...(assistant_id === undefined ? {} : { assistant_id: idOf('assistant', assistant_id) }),
        // Messages keep their ids.
        ...(source_message_id === undefined ? {} : { source_message_id }),
      }
      const made = { createdAt: new Date(archived.created_at), madeBy: archived.made_by }
      const stored = await memories.create(userId, fact, id, made)
      return stored._id === id ? 'imported' : 'existing'
    })
}
