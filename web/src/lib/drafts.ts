/** What is written in a chat but not sent yet. Kept until the user logs out, another one logs in, or the tab is closed. */
const prefix = 'assistant-platform.draft.'
const keyOf = (chat: string) => prefix + chat

export const isDraftKey = (key: string): boolean => key.startsWith(prefix)

/** The key of the chat that begins with its first message. */
export const newChatKey = 'new'

export function readDraft(chat: string): string {
  return sessionStorage.getItem(keyOf(chat)) ?? ''
}

export function keepDraft(chat: string, text: string): void {
  if (text === '') sessionStorage.removeItem(keyOf(chat))
  else sessionStorage.setItem(keyOf(chat), text)
}

export function moveDraft(from: string, to: string): void {
  keepDraft(to, readDraft(from))
  keepDraft(from, '')
}
