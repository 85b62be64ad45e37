/** A text that a user keeps, to begin messages with. */
export interface PromptRecord {
  _id: string
  user_id: string
  /** How the user finds it. Several may have the same. */
  name: string
  text: string
  created_at: Date
  updated_at: Date
}

/** A list of all prompts of a user is one answer. */
export const promptLimits = { prompts: 100, nameLength: 80, textLength: 8000 } as const
