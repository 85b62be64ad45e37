import type { Usage } from './records/run.ts'

/** The token usage of several answers together, without other members; undefined if there is none. */
export function sumUsage(usages: Usage[]): Usage | undefined {
  if (usages.length === 0) return undefined
  const sum = (member: keyof Usage) => usages.reduce((total, usage) => total + (usage[member] ?? 0), 0)
  const [cached, written, reasoning] = [sum('cached_tokens'), sum('cache_write_tokens'), sum('reasoning_tokens')]
  return {
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    total_tokens: sum('total_tokens'),
    ...(cached > 0 ? { cached_tokens: cached } : {}),
    ...(written > 0 ? { cache_write_tokens: written } : {}),
    ...(reasoning > 0 ? { reasoning_tokens: reasoning } : {}),
  }
}
