import { type Answer, plainAnswer } from './answer.ts'

/** A chat as the tab keeps it when its page is loaded again. */
export interface KeptChat {
  threadId?: string | undefined
  lines: ({ who: 'human' | 'ai' } & Answer)[]
}

export function readChat(key: string | undefined): KeptChat {
  if (key === undefined) return { lines: [] }
  try {
    const { threadId, lines = [] } = JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<KeptChat>
    // Earlier versions kept no sources.
    return { threadId, lines: lines.map((line) => ({ ...plainAnswer(''), ...line })) }
  } catch {
    return { lines: [] }
  }
}

/** Without storage, or without room in it, the chat is lost when the page is left. */
export function keepChat(key: string | undefined, chat: KeptChat): void {
  if (key === undefined) return
  try {
    sessionStorage.setItem(key, JSON.stringify(chat))
  } catch {
    sessionStorage.removeItem(key)
  }
}
