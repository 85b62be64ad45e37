import { isJsonObject } from '../../domain/is-json-object.ts'
import type { Usage } from '../../domain/records/run.ts'
import { type JsonObject, invalid, objectAt } from './foreign-values.ts'

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

/** The tokens of an answer. `cached` and `written` are among those of the prompt, `reasoning` among those of the completion. */
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
