import type { Schemas } from './api.ts'

export type ProviderKind = NonNullable<Schemas['ModelServerRequest']['kind']>

/** The names that providers give their interfaces. */
export const kindNames: Record<ProviderKind, string> = {
  'openai-compatible': 'Chat completions (OpenAI, vLLM, Ollama, …)',
  'openai-responses': 'OpenAI Responses',
  azure: 'Azure OpenAI',
  anthropic: 'Anthropic',
  google: 'Google Gemini',
  bedrock: 'Amazon Bedrock',
  mistral: 'Mistral',
  deepseek: 'DeepSeek',
  xai: 'xAI',
}

/** What the address of a provider looks like. */
export const exampleUrls: Record<ProviderKind, string> = {
  'openai-compatible': 'http://127.0.0.1:11434/v1',
  'openai-responses': 'https://api.openai.com/v1',
  azure: 'https://NAME.openai.azure.com/openai',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  bedrock: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
  mistral: 'https://api.mistral.ai/v1',
  deepseek: 'https://api.deepseek.com',
  xai: 'https://api.x.ai/v1',
}
