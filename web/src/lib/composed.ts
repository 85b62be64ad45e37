type Listener = (text: string) => void

/** The fields of chats that are on the page. */
const fields = new Map<string, Listener>()

/** Takes texts for the field of a chat; returns how to end that. */
export function takeComposed(chat: string, listener: Listener): () => void {
  fields.set(chat, listener)
  return () => {
    if (fields.get(chat) === listener) fields.delete(chat)
  }
}

/** Puts a text before what is written in the field of a chat. */
export const composeInto = (chat: string, text: string): void => fields.get(chat)?.(text)
