import type { Restores } from '../capability.ts'
import type { Prompts } from './index.ts'

/** What others need of prompts; their collection, owners and lines in archives are with their record. */
export const promptsCapability = {
  /** Prompts beyond what a user may have are refused. */
  restore: ({ prompts: { has, create } }: { prompts: Pick<Prompts, 'has' | 'create'> }): Pick<Restores, 'prompts'> => ({
    async prompts(userId, line, idOf) {
      const id = idOf('prompt', line.prompt_id)
      if (await has(userId, id)) return 'existing'
      await create(userId, line, id, new Date(line.created_at))
      return 'imported'
    },
  }),
}
