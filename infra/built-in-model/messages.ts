import { parseForeignJson } from '../../domain/foreign-json.ts'
import { isJsonObject } from '../../domain/json.ts'

/**
 * What is asked of the process of the model, a line of JSON each. `texts` are embedded; without them, the request is
 * given up.
 */
export interface EmbedRequest {
  id: number
  texts?: string[]
}

/** Its answer: the vectors, one after the other, as 32-bit numbers in base64. */
export type Answered = { id: number; vectors: string; tokens: number } | { id: number; problem: string }

/** A request of 128 texts of the longest chunks has a tenth. */
export const maxLineCharacters = 32 * 1024 * 1024

export function readEmbedRequest(line: string): EmbedRequest | undefined {
  const value = parsed(line)
  if (value === undefined) return undefined
  const { id, texts } = value
  if (typeof id !== 'number') return undefined
  if (texts === undefined) return { id }
  return Array.isArray(texts) && texts.every((text) => typeof text === 'string') ? { id, texts } : undefined
}

export function readAnswered(line: string): Answered | undefined {
  const value = parsed(line)
  if (value === undefined) return undefined
  const { id, vectors, tokens, problem } = value
  if (typeof id !== 'number') return undefined
  if (typeof problem === 'string') return { id, problem }
  return typeof vectors === 'string' && typeof tokens === 'number' ? { id, vectors, tokens } : undefined
}

function parsed(line: string): Record<string, unknown> | undefined {
  const value = parseForeignJson(line, { bytes: 4 * maxLineCharacters })
  return isJsonObject(value) ? value : undefined
}
