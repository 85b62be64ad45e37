import { createListeners } from './listeners.ts'

/** A sent message that the thread does not show yet, because its run waits for its turn. */
export interface SentMessage {
  id: string
  content: string
  /** The message that it follows, if that is not the newest. */
  after?: string | null
  runId?: string
}

const { notify, useRead } = createListeners()
const cache = new Map<string, SentMessage[]>()
const none: SentMessage[] = []
const keyOf = (threadId: string) => `sent.${threadId}`

/** Kept in the tab's storage, so that a reload does not lose the text of waiting messages. */
export function useSentMessages(threadId: string): SentMessage[] {
  return useRead(() => read(threadId))
}

export function addSent(threadId: string, message: SentMessage): void {
  write(threadId, [...read(threadId).filter(({ id }) => id !== message.id), message])
}

export function removeSent(threadId: string, ids: string[]): void {
  const rest = read(threadId).filter(({ id }) => !ids.includes(id))
  if (rest.length !== read(threadId).length) write(threadId, rest)
}

function read(threadId: string): SentMessage[] {
  const known = cache.get(threadId)
  if (known) return known
  const stored = sessionStorage.getItem(keyOf(threadId))
  const messages = stored === null ? none : (JSON.parse(stored) as SentMessage[])
  cache.set(threadId, messages)
  return messages
}

function write(threadId: string, messages: SentMessage[]): void {
  cache.set(threadId, messages)
  if (messages.length === 0) sessionStorage.removeItem(keyOf(threadId))
  else sessionStorage.setItem(keyOf(threadId), JSON.stringify(messages))
  notify()
}
