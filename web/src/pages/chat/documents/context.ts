import { createContext } from 'react'

/** A document that is opened beside the chat. */
export interface OpenedDocument {
  documentId: string
  /** Default: the newest. */
  number?: number
  /** From what it begins, unless there is such a document already. */
  begin?: { messageId: string; language: string; content: string; name?: string }
}

/** Opens a document beside the chat; undefined where that is not possible. */
export const OpenDocumentContext = createContext<((opened: OpenedDocument) => void) | undefined>(undefined)

/** The message whose text is being shown. */
export const MessageIdContext = createContext('')
