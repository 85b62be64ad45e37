import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { CountTokens } from '../../services/runs/chat-model.ts'

/** About 3 MB. */
const maxRemembered = 20_000

/**
 * Counts each text once: a conversation that nears the model's window is counted with every turn, and only its newest
 * messages are new. Counts are kept by the SHA-256 of their text; those that were not needed for longest are dropped.
 */
export function rememberCounts(count: CountTokens): CountTokens {
  const counts = new LRUCache<string, number>({ max: maxRemembered })

  return async (texts, limit, turn) => {
    turn.signal.throwIfAborted()
    const keys = texts.map((text) => hash('sha256', text, 'base64'))
    const result: number[] = []
    let left = limit
    while (result.length < texts.length && left >= 0) {
      const start = result.length
      const known = counts.get(keys[start] ?? '')
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
        if (left >= 0) counts.set(keys[result.length] ?? '', tokens)
        result.push(tokens)
      }
    }
    return result
  }
}
