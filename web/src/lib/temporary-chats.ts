/** The chats of this page that no list shows, and that are deleted when they are left. */
const temporary = new Set<string>()

export const keepTemporary = (threadId: string): void => void temporary.add(threadId)

export const isTemporary = (threadId: string): boolean => temporary.has(threadId)
