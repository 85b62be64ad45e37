import type { ReadRecords } from '../../domain/archive/items.ts'
import type { Collections } from '../collections.ts'
import type { Prompts } from '../prompts/index.ts'
import type { Import } from './import.ts'
import { settle } from './report.ts'

export interface ImportPromptsDeps {
  collections: Pick<Collections, 'prompts'>
  prompts: Pick<Prompts, 'create'>
}

/** Stores the prompts of an archive; those beyond what a user may have are refused. */
export function createPromptImport({ collections, prompts }: ImportPromptsDeps, { userId, idOf, report }: Import) {
  return (archived: ReadRecords['prompts']) =>
    settle(report, 'prompts', archived.prompt_id, async () => {
      const id = idOf('prompt', archived.prompt_id)
      if ((await collections.prompts.exists({ _id: id, user_id: userId })) !== null) return 'existing'
      await prompts.create(userId, archived, id, new Date(archived.created_at))
      return 'imported'
    })
}
