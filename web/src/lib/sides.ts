/** The answer of a second model to a question, in a thread beside the chat. */
export interface Side {
  questionId: string
  threadId: string
  runId: string
  model: string
  /** The message that the question follows. */
  after: string | null
  /** The answer in the chat was kept: this one is not shown, and becomes a version with the next message. */
  isAside?: boolean
}

/** Those of a chat, as they are chosen for it (`lib/chat-model.ts`); an empty text has none. */
export const sidesIn = (chosen: string): Side[] => JSON.parse(chosen || '[]') as Side[]
