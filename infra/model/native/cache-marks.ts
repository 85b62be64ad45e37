import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { NativeKind } from '../../../domain/model-providers.ts'

/** What marks the end of a beginning that the provider keeps for the next request. */
export type CacheMark = SharedV4ProviderOptions

/**
 * Anthropic's models keep only what is marked; other providers find it by themselves, and Bedrock's other models refuse
 * marks.
 */
export function cacheMarkFor(kind: NativeKind, model: string): CacheMark | undefined {
  if (kind === 'anthropic') return { anthropic: { cacheControl: { type: 'ephemeral' } } }
  if (kind === 'bedrock' && /claude|nova/i.test(model)) return { bedrock: { cachePoint: { type: 'default' } } }
  return undefined
}

/**
 * Marks the instructions, which stay the same for every conversation, the newest message, which is the beginning of the
 * next request, and the newest one of the user before it, which was the end of the last request.
 */
export function markedForCache(prompt: LanguageModelV4Prompt, mark: CacheMark | undefined): LanguageModelV4Prompt {
  if (mark === undefined) return prompt
  const inputs = prompt.flatMap(({ role }, index) => (role === 'user' || role === 'tool' ? [index] : []))
  const marked = new Set([...inputs.slice(-2), ...(prompt[0]?.role === 'system' ? [0] : [])])
  return prompt.map((message, index): LanguageModelV4Message =>
    marked.has(index) ? { ...message, providerOptions: mark } : message,
  )
}
