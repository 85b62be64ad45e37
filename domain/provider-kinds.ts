/**
 * The interfaces that providers of models speak. `openai-compatible` is chat completions; the others are the providers'
 * own, except `openai-responses`, which is the newer one of OpenAI.
 */
export const providerKinds = [
  'openai-compatible',
  'openai-responses',
  'azure',
  'anthropic',
  'google',
  'bedrock',
  'mistral',
  'deepseek',
  'xai',
] as const
export type ProviderKind = (typeof providerKinds)[number]
export type NativeKind = Exclude<ProviderKind, 'openai-compatible'>

/** What a provider is that names no kind. */
export const usualKind = 'openai-compatible' as const

/** Where providers are that have one address for everybody. */
export const usualBaseUrls: Partial<Record<ProviderKind, string>> = {
  'openai-responses': 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  mistral: 'https://api.mistral.ai/v1',
  deepseek: 'https://api.deepseek.com',
  xai: 'https://api.x.ai/v1',
}

/** The kind as a native one; undefined for chat completions. */
export function nativeKindOf(kind: ProviderKind | undefined): NativeKind | undefined {
  return kind === undefined || kind === 'openai-compatible' ? undefined : kind
}
