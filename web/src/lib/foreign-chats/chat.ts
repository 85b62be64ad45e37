/** What a service has exported, as it is turned into an archive of this one. */
export interface ForeignChat {
  id: string
  title: string
  /** In ISO 8601. */
  createdAt: string
  updatedAt: string
  isArchived: boolean
  nodes: ForeignNode[]
  /** The node at the end of the branch that was shown; the last one if it is not known. */
  current: string | undefined
}

export interface ForeignNode {
  id: string
  parent: string | null
  /** Undefined: not shown, such as a call of a tool; what follows it follows the node before it. */
  said: { by: 'person' | 'assistant'; text: string; pictures?: readonly string[] } | undefined
  at: string | undefined
}

/** A picture of a question, in a form that the service shows. */
export interface Picture {
  type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  bytes: Blob
}

/** What was left out, for the report. */
export interface LeftOut {
  /** Chats without a message, or of an unknown form. */
  chats: number
  /** Pictures and other files that the export does not hold, or that cannot be taken over. */
  files: number
  /** Branches beyond those that a chat may have. */
  branches: number
  /** Texts that were cut. */
  cut: number
}

export const nothingLeftOut = (): LeftOut => ({ chats: 0, files: 0, branches: 0, cut: 0 })

export type ForeignSource = 'chatgpt' | 'claude' | 'librechat'

export const limits = {
  /** What browsers hold in one text. */
  fileBytes: 500 * 1024 * 1024,
  chats: 20_000,
  nodes: 20_000,
  textLength: 400_000,
  /** Of one chat. */
  branches: 200,
  messages: 10_000,
  titleLength: 200,
  /** As large as the service takes one with a message. */
  pictureBytes: 8 * 1024 * 1024,
  /** Of all pictures: they are held while the archive is made. */
  allPictureBytes: 500 * 1024 * 1024,
  pictures: 10_000,
} as const
