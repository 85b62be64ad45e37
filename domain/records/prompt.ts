import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, archiveLine, declareRecord } from './declared-record.ts'

/** A list of all prompts of a user is one answer. */
export const promptLimits = { prompts: 100, inProject: 200, nameLength: 80, textLength: 8000 } as const

/** A text that a user keeps, to begin messages with. */
const Prompt = Type.Object({
  _id: StoredId,
  user_id: StoredId,
  /** The project with which its maker shares it: it goes with that, too. */
  project_id: Type.Optional(StoredId),
  /** How the user finds it. Several may have the same. */
  name: Type.String({ minLength: 1, maxLength: promptLimits.nameLength }),
  text: Type.String({ minLength: 1, maxLength: promptLimits.textLength }),
  created_at: StoredTime,
  updated_at: StoredTime,
})

const line = archiveLine(Prompt, { id: 'prompt_id', members: ['name', 'text', 'created_at'] })

export const promptRecord = declareRecord({
  model: 'Prompt',
  collection: 'prompts',
  schema: Prompt,
  owners: ['user_id', 'project_id'],
  indexes: [[{ user_id: 1, name: 1 }], [{ project_id: 1, name: 1 }]],
  archive: line,
})
export type PromptRecord = RecordOf<typeof promptRecord>
