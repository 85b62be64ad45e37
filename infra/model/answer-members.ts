import { isJsonObject } from '../../domain/json.ts'
import type { Usage } from '../../domain/records/run.ts'
import { type JsonObject, invalid, isArray, objectAt, tooLong } from './foreign-values.ts'

/** Limits for one answer: its texts, and the ids, names and arguments of its calls together. */
const maxAnswerBytes = 2 * 1024 * 1024
export const maxArgumentsBytes = 1024 * 1024
export const maxIdLength = 256
export const maxNameLength = 128

/** Counts the bytes of an answer's texts, and returns those of the last one. Throws `ModelFailure` above the limit. */
export function createByteCount(): (text: string) => number {
  let answerBytes = 0
  return (text) => {
    const bytes = Buffer.byteLength(text)
    answerBytes += bytes
    if (answerBytes > maxAnswerBytes) throw tooLong(`is longer than ${maxAnswerBytes} bytes`)
    return bytes
  }
}

const maxTokens = 1_000_000_000

/**
 * The tokens that a server counted. Undefined if it sends none, or numbers that cannot be counts: then they are counted
 * here. Some servers leave the tokens of thinking out of those of the answer, and only the sum has them.
 */
export function readUsage(value: unknown): Usage | undefined {
  const usage = objectAt(value, 'usage')
  if (usage === undefined) return undefined
  const prompt = firstOf(tokensAt(usage, 'prompt_tokens'), tokensAt(usage, 'input_tokens'))
  const said = firstOf(tokensAt(usage, 'completion_tokens'), tokensAt(usage, 'output_tokens'))
  const sum = tokensAt(usage, 'total_tokens')
  if (prompt === undefined || said === undefined) return undefined
  const completion = Math.max(said, (sum ?? 0) - prompt)
  const cached = firstOf(
    tokensAt(detailsIn(usage, 'prompt_tokens_details', 'input_tokens_details'), 'cached_tokens'),
    tokensAt(usage, 'prompt_cache_hit_tokens'),
    tokensAt(usage, 'cache_read_input_tokens'),
    tokensAt(usage, 'cached_tokens'),
  )
  const written = firstOf(
    tokensAt(detailsIn(usage, 'prompt_tokens_details', 'input_tokens_details'), 'cache_write_tokens'),
    tokensAt(detailsIn(usage, 'prompt_tokens_details', 'input_tokens_details'), 'cache_creation_tokens'),
    tokensAt(usage, 'cache_creation_input_tokens'),
  )
  const reasoning = firstOf(
    tokensAt(detailsIn(usage, 'completion_tokens_details', 'output_tokens_details'), 'reasoning_tokens'),
    tokensAt(usage, 'reasoning_tokens'),
  )
  return usageOf({ prompt, completion, cached, written, reasoning })
}

/**
 * The tokens of an answer. `cached` and `written` are among those of the prompt, `reasoning` among those of the
 * completion.
 */
export function usageOf(counts: {
  prompt: number
  completion: number
  cached: number | undefined
  written: number | undefined
  reasoning: number | undefined
}): Usage {
  const { prompt, completion, cached = 0, written, reasoning } = counts
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached ? { cached_tokens: Math.min(cached, prompt) } : {}),
    ...(written && cached < prompt ? { cache_write_tokens: Math.min(written, prompt - cached) } : {}),
    ...(reasoning ? { reasoning_tokens: Math.min(reasoning, completion) } : {}),
  }
}

/** Some servers send fractions, and some a negative number for "unknown". */
export function countOf(value: number): number | undefined {
  return value >= 0 && value <= maxTokens ? Math.round(value) : undefined
}

function tokensAt(from: JsonObject | undefined, name: string): number | undefined {
  const value = from?.[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') throw invalid(`usage.${name} must be an integer from 0 to ${maxTokens}`)
  return countOf(value)
}

function detailsIn(usage: JsonObject, ...names: string[]): JsonObject | undefined {
  return names.map((name) => usage[name]).find((value) => isJsonObject(value))
}

function firstOf(...counts: (number | undefined)[]): number | undefined {
  return counts.find((count) => count !== undefined)
}

const maxSources = 50
const maxUrlLength = 2000
const maxTitleLength = 200

/** Pages that a server which searches names beside its text, in their order. What cannot be read is left out. */
export function createSources() {
  const found = new Map<string, string>()

  function add(url: unknown, title: unknown): void {
    if (typeof url !== 'string' || url.length > maxUrlLength || !/^https?:\/\/[^\s<>]+$/.test(url)) return
    const name =
      typeof title === 'string'
        ? title
            .replaceAll(/[[\]\s]+/g, ' ')
            .trim()
            .slice(0, maxTitleLength)
        : ''
    if (found.size < maxSources || found.has(url)) found.set(url, found.get(url) || name)
  }

  return {
    /** `annotations` of a message: `{type: "url_citation", url_citation: {url, title}}`. */
    addAnnotations(annotations: unknown[]): void {
      for (const one of annotations) {
        const citation = isJsonObject(one) ? (one['url_citation'] ?? one) : undefined
        if (isJsonObject(citation)) add(citation['url'], citation['title'])
      }
    },
    /** `citations` and `search_results` of a chunk: addresses, or `{url, title}`. */
    addUrls(entries: unknown): void {
      if (!isArray(entries)) return
      for (const entry of entries.slice(0, maxSources)) {
        if (isJsonObject(entry)) add(entry['url'] ?? entry['link'] ?? entry['uri'], entry['title'] ?? entry['name'])
        else add(entry, undefined)
      }
    },
    /** What stands in a chunk, a choice or a message beside the text, under the names that servers have for it. */
    addFrom(one: JsonObject): void {
      // Of each chunk: members are looked up by constant names.
      const { citations, search_results: results, web_search: searched, references, context, search_info: info } = one
      if (citations) this.addUrls(citations)
      if (results) this.addUrls(results)
      if (searched) this.addUrls(searched)
      if (references) this.addUrls(references)
      if (isJsonObject(context)) this.addUrls(context['citations'])
      if (isJsonObject(info)) this.addUrls(info['search_results'])
    },
    /** As Markdown that follows the answer; texts refer to the pages by their number. Empty without pages. */
    list(): string {
      if (found.size === 0) return ''
      const lines = [...found].map(([url, title], index) => `${index + 1}. [${title || url}](<${url}>)`)
      return `\n\n${lines.join('\n')}`
    },
  }
}

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
