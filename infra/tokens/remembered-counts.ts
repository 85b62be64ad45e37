import { hash } from 'node:crypto'
import type { CountTokens } from '../../services/engine/fit.ts'

/** About 3 MB. */
const maxRemembered = 20_000

/**
 * Counts each text once: a conversation that nears the model's window is counted with every turn, and only its newest
 * messages are new. Counts are kept by the SHA-256 of their text; those that were not needed for longest are dropped.
 */
export function rememberCounts(count: CountTokens): CountTokens {
  const counts = new Map<string, number>()

  function recall(key: string): number | undefined {
    const tokens = counts.get(key)
    if (tokens !== undefined) remember(key, tokens)
    return tokens
  }

  function remember(key: string, tokens: number): void {
    counts.delete(key)
    counts.set(key, tokens)
    const [oldest] = counts.keys()
    if (counts.size > maxRemembered && oldest !== undefined) counts.delete(oldest)
  }

  return async (texts, limit, turn) => {
    turn.signal.throwIfAborted()
    const keys = texts.map((text) => hash('sha256', text, 'base64'))
    const result: number[] = []
    let left = limit
    while (result.length < texts.length && left >= 0) {
      const start = result.length
      const known = recall(keys[start] ?? '')
      if (known !== undefined) {
        result.push(known)
        left -= known
        continue
      }
      let end = start + 1
      while (end < texts.length && !counts.has(keys[end] ?? '')) end++
      for (const tokens of await count(texts.slice(start, end), left, turn)) {
        left -= tokens
        // Where the limit is exceeded, a text was counted only in part.
        if (left >= 0) remember(keys[result.length] ?? '', tokens)
        result.push(tokens)
      }
    }
    return result
  }
}
