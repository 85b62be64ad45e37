import { isJsonObject } from '../../domain/is-json-object.ts'
import type { JsonObject } from './foreign-values.ts'
import { isArray } from './foreign-values.ts'

/** What a server must get back unchanged with a message: members of the message, and of its calls by their number. */
export interface CollectedMembers {
  /** The member in which the server sent its thinking as text. */
  reasoning?: string
  message?: JsonObject
  calls?: Record<string, JsonObject>
}

/** Signatures are some kilobytes long. What is larger is not kept, and the server has to do without it. */
const maxBytes = 256 * 1024

/** Gemini's signatures (`extra_content`), and what gateways call them. */
const callMembers = ['extra_content', 'provider_specific_fields', 'thought_signature'] as const
/** Thinking in pieces with signatures: of OpenRouter, and of gateways before Anthropic's models. */
const detailMembers = ['reasoning_details', 'thinking_blocks'] as const
const reasoningMembers = ['reasoning_content', 'reasoning'] as const

export const collectedNames: readonly string[] = [...callMembers, ...detailMembers, ...reasoningMembers]

/** Collects these members while an answer arrives. */
export function createCollectedMembers() {
  let reasoning: string | undefined
  let bytes = 0
  const calls: Record<string, JsonObject> = {}
  const details = new Map<string, JsonObject[]>()
  const others: JsonObject = {}

  const fits = (value: unknown) => (bytes += Buffer.byteLength(JSON.stringify(value) ?? '')) <= maxBytes

  return {
    addCall(index: number, piece: JsonObject): void {
      for (const name of callMembers) {
        const value = piece[name]
        if (value === undefined || value === null || !fits(value)) continue
        calls[index] = { ...calls[index], [name]: value }
      }
    },
    addMessage(delta: JsonObject): void {
      for (const name of reasoningMembers) if (typeof delta[name] === 'string' && delta[name]) reasoning ??= name
      for (const name of detailMembers) {
        const pieces = delta[name]
        if (!isArray(pieces)) continue
        const list = details.get(name) ?? []
        details.set(name, list)
        for (const piece of pieces) if (isJsonObject(piece) && fits(piece)) join(list, piece)
      }
      const { extra_content: extra } = delta
      if (extra !== undefined && extra !== null && fits(extra)) others['extra_content'] = extra
    },
    members(): CollectedMembers | undefined {
      const message = { ...others, ...Object.fromEntries(details) }
      const members = {
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(Object.keys(message).length === 0 ? {} : { message }),
        ...(Object.keys(calls).length === 0 ? {} : { calls }),
      }
      return Object.keys(members).length === 0 || bytes > maxBytes ? undefined : members
    },
  }
}

/** Adds a piece to the last entry if it continues it: the texts of one entry arrive in pieces, its signature last. */
function join(list: JsonObject[], piece: JsonObject): void {
  const last = list.at(-1)
  const isNext =
    last === undefined || last['type'] !== piece['type'] || last['index'] !== piece['index'] || !!last['signature']
  if (isNext) {
    list.push({ ...piece })
    return
  }
  for (const [name, value] of Object.entries(piece)) {
    const before = last[name]
    const isText = name === 'text' || name === 'summary' || name === 'thinking' || name === 'data'
    last[name] = isText && typeof before === 'string' && typeof value === 'string' ? before + value : (value ?? before)
  }
}
