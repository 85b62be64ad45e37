import type { Message } from './messages.ts'
import type { ToolCallRecord } from './records/tool-call.ts'

/** What the order of a conversation needs of a `Message`. */
interface LineMessage {
  type: string
  data: { id: string; after?: string | null }
}

/**
 * Which messages of a log are the conversation. A message follows the newest one before it, unless it is a person's and
 * names another (`after`): then it begins a new version of what followed that one. The conversation is the way from the
 * newest message back to its first. System messages belong to all versions.
 */
export function createMessageLine() {
  const positionOf = new Map<string, number>()
  /** By position: the place of the message before; -1 for a first message. */
  const before: number[] = []
  const system = new Set<number>()
  let newest = -1
  let hasVersions = false

  return {
    /** The position of a message, in the order of the log. A message whose id is known takes the earlier one's position. */
    add({ type, data }: LineMessage): number {
      const known = positionOf.get(data.id)
      if (known !== undefined) return known
      const index = before.length
      const after = type === 'HumanMessage' ? data.after : undefined
      const previous = after === undefined ? newest : after === null ? -1 : (positionOf.get(after) ?? -1)
      if (previous !== newest) hasVersions = true
      if (type === 'SystemMessage') system.add(index)
      positionOf.set(data.id, index)
      before.push(previous)
      newest = index
      return index
    },

    positionOf: (id: string): number | undefined => positionOf.get(id),

    /** The positions of the conversation in order; with `last`, of the version that ends there. */
    positions(last = newest): number[] {
      if (!hasVersions) return Array.from({ length: last + 1 }, (_, index) => index)
      const line = new Set([...system].filter((index) => index <= last))
      for (let index = last; index >= 0; index = before[index] ?? -1) line.add(index)
      return [...line].toSorted((a, b) => a - b)
    },

    /** The position of the message before this one; -1 for a first message. */
    before: (index: number): number => before[index] ?? -1,
  }
}

/**
 * The state after further messages: a message with a known id replaces the earlier one in place, others are
 * appended; see `createMessageLine` for those that begin another version. With `last`, the id of a message, the state that
 * ends with it: empty if there is none. Returns a new array.
 */
export function foldMessages(state: readonly Message[], added: readonly Message[], last?: string): Message[] {
  const line = createMessageLine()
  const messages: Message[] = []
  for (const entry of [...state, ...added]) messages[line.add(entry)] = entry
  const end = last === undefined ? undefined : line.positionOf(last)
  if (last !== undefined && end === undefined) return []
  return line.positions(end).flatMap((index) => messages[index] ?? [])
}

interface WindowOptions {
  /** The id of a message: only messages before it are considered. */
  before?: string | undefined
  /** Whether all versions are wanted, in the order of the log, instead of the newest. */
  allVersions?: boolean | undefined
}

/**
 * The newest messages of a conversation that fit into `maxBytes`, collected while its log is read from the
 * beginning; older ones are counted and not kept, so that reading a long conversation needs no more memory than its
 * answer. The newest message stays whatever its size.
 */
export function createMessageWindow(maxBytes: number, { before, allVersions = false }: WindowOptions = {}) {
  const line = createMessageLine()
  /** By position; those before `first` are left out. */
  const retained: ({ message: Message; bytes: number } | undefined)[] = []
  let first = 0
  let total = 0
  /** The position of the last message that is considered. */
  let end: number | undefined

  const isUnknown = () => before !== undefined && end === undefined

  function leaveOutOldest(): void {
    total -= retained[first]?.bytes ?? 0
    retained[first] = undefined
    first += 1
  }

  function positions(): number[] {
    if (isUnknown()) return []
    return allVersions ? [...retained.keys()] : line.positions(end)
  }

  return {
    /** A message whose id is known replaces the earlier one in its place, any other is appended. */
    add(message: Message, bytes: number): void {
      const { id } = message.data
      const isKnown = line.positionOf(id) !== undefined
      if (id === before && !isKnown) end = line.before(line.add(message))
      if (end !== undefined && !isKnown) return
      const place = line.add(message)
      if (place < first) return
      total += bytes - (retained[place]?.bytes ?? 0)
      retained[place] = { message, bytes }
      while (total > maxBytes && first < retained.length - 1) leaveOutOldest()
    },

    /** Oldest first. Nothing when the message that `before` names was not among them. */
    messages: (): Message[] => positions().flatMap((index) => retained[index]?.message ?? []),

    /** How many older messages were left out. */
    omitted: (): number => positions().filter((index) => index < first).length,
  }
}

export type ToolMessage = Extract<Message, { type: 'ToolMessage' }>

/** By the id of an answer, the results of its calls in their order; undefined for a call without a result. */
export type CallResults = ReadonlyMap<string, readonly (ToolMessage | undefined)[]>

/**
 * Finds the result of each call of a conversation. Models number the calls of each answer anew, so the same id can occur
 * in many answers: a result belongs to the nearest answer before it that has a call with its id and without a result.
 * Results without such a call are left out.
 */
export function resultsOfCalls(messages: readonly Message[]): CallResults {
  const results = new Map<string, (ToolMessage | undefined)[]>()
  /** By id, the calls without a result, oldest first. */
  const open = new Map<string, { answer: string; index: number }[]>()
  for (const message of messages) {
    if (message.type === 'AIMessage') {
      const { id: answer, tool_calls: calls = [] } = message.data
      const none = calls.map((): ToolMessage | undefined => undefined)
      results.set(answer, none)
      for (const [index, { id }] of calls.entries()) {
        const waiting = open.get(id) ?? []
        waiting.push({ answer, index })
        open.set(id, waiting)
      }
    } else if (message.type === 'ToolMessage') {
      const waiting = open.get(message.data.tool_call_id) ?? []
      const nearest = waiting.at(-1)?.answer
      const first = waiting.findLastIndex(({ answer }) => answer !== nearest) + 1
      const [call] = waiting.splice(first, 1)
      const found = call && results.get(call.answer)
      if (call !== undefined && found !== undefined) found[call.index] = message
    }
  }
  return results
}

/** The ids of the results that calls have. A decision about a call is told as its result until the call is made. */
export function notifiedDecisions(messages: readonly Message[]): ReadonlySet<string> {
  const results = [...resultsOfCalls(messages).values()].flat()
  return new Set(results.flatMap((result) => (result === undefined ? [] : [result.data.id])))
}

/** For a call that may or may not have taken effect. */
export const unknownOutcome =
  'The outcome of this call is not known: it may or may not have taken effect. It was not repeated.'

/** The result of a call as the model is told. */
export function toolMessageOf(call: ToolCallRecord): Message {
  return {
    type: 'ToolMessage',
    data: {
      id: toolMessageId(call),
      content: call.result ?? unknownOutcome,
      tool_call_id: call.call_id,
      name: call.name,
      ...(call.parts === undefined || call.parts.length === 0 ? {} : { parts: call.parts }),
      ...(call.decision?.action === 'reject' ? { rejected: true } : {}),
      ...(call.failed ? { failed: true } : {}),
      ...(call.asked === undefined ? {} : { asked: call.asked }),
    },
  }
}

/** The id of the message with a call's result. */
function toolMessageId(call: Pick<ToolCallRecord, '_id'>): string {
  return `tool-${call._id.replaceAll('/', '-')}`
}
