/**
 * Ids of the responses API. A response is a run, a conversation is a thread, and an item is a message or one of its
 * calls: their ids carry ours, so that nothing has to be looked up to show them.
 */
export const responseId = (runId: string): string => `resp_${runId}`
export const conversationId = (threadId: string): string => `conv_${threadId}`

/** The id of the run, or undefined if it is the id of something else. */
export const runIdOf = (id: string): string | undefined => after('resp_', id)
export const threadIdOf = (id: string): string | undefined => after('conv_', id)

function after(prefix: string, id: string): string | undefined {
  return id.startsWith(prefix) ? id.slice(prefix.length) : undefined
}

/** The id of a message that a client has sent: in the input of a run, or in an entry of a thread's log. */
export const clientMessageId = (entryId: string, index: number): string => `${entryId}-i${index}`

const ofClient = /^.{36}-i\d+$/

const ofEntry = /^((?:[a-z]{2,4}_)?)(.{36})(-i?\d{1,9}(?:_\d{1,4})?)$/s

/** The id of a message or an item, with another id of the run, or of the entry, that it belongs to. Other ids stay. */
export function withEntryId(id: string, rename: (entryId: string) => string): string {
  const [, prefix, entryId, place] = ofEntry.exec(id) ?? []
  return prefix === undefined || entryId === undefined || place === undefined
    ? id
    : `${prefix}${rename(entryId)}${place}`
}

/** Whether a message has come from a client of this API. */
export const isOfClient = (messageId: string): boolean => ofClient.test(messageId)

type CallPrefix = 'fc' | 'ctc' | 'lsh' | 'shc' | 'apc' | 'tsc' | 'fs' | 'ws' | 'ci' | 'mcp' | 'mcpr'
export const messageItemId = (messageId: string): string => `msg_${messageId}`
export const reasoningItemId = (messageId: string): string => `rs_${messageId}`
export const compactionId = (runId: string): string => `cmp_${runId}`
export const outputItemId = (messageId: string): string => `fco_${messageId}`
export const callItemId = (prefix: CallPrefix, messageId: string, index: number): string =>
  `${prefix}_${messageId}_${index}`

/** What the id of an item names; undefined if it is none of ours. */
export interface ItemPosition {
  messageId: string
  /** The run, or the entry of the log, that the message belongs to. */
  entryId: string
  /** The number of the call in the message; undefined: its text, or the result that it is. */
  call?: number
}

const callPrefix = /^(?:fc|ctc|lsh|shc|apc|tsc|fs|ws|ci|mcpr?)_/

/** Whether two ids name one item. A response knows more of a call than its conversation, and can have another prefix. */
export const isSameItem = (one: string, other: string): boolean =>
  one === other || (callPrefix.test(one) && one.replace(callPrefix, '') === other.replace(callPrefix, ''))

const itemId =
  /^(?:(?:msg|fco|rs)_((.{36})-i?\d{1,9})|(?:fc|ctc|lsh|shc|apc|tsc|fs|ws|ci|mcpr?)_((.{36})-i?\d{1,9})_(\d{1,4}))$/

export function itemPositionOf(id: string): ItemPosition | undefined {
  const match = itemId.exec(id)
  if (match === null) return undefined
  const [, messageId, entryId, callMessageId, callEntryId, call] = match
  if (messageId !== undefined && entryId !== undefined) return { messageId, entryId }
  if (callMessageId === undefined || callEntryId === undefined) return undefined
  return { messageId: callMessageId, entryId: callEntryId, call: Number(call) }
}
