import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { NativeKind } from '../../../domain/model-providers.ts'
import { awsCredentials } from './aws-credentials.ts'

interface OpenOptions {
  apiKey: string
  baseUrl: string
  fetch: typeof fetch
}

/**
 * A model of one request. Key and address are always given, because the packages would read them from variables of the
 * environment otherwise.
 */
export async function openModel(
  kind: NativeKind,
  model: string,
  { apiKey, baseUrl: baseURL, fetch }: OpenOptions,
): Promise<LanguageModelV4> {
  const settings = { apiKey, baseURL, fetch }
  switch (kind) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic(settings).languageModel(model)
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle(settings).languageModel(model)
    }
    case 'openai-responses': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI(settings).responses(model)
    }
    case 'azure': {
      const { createAzure } = await import('@ai-sdk/azure')
      return createAzure(settings).responses(model)
    }
    case 'bedrock': {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock')
      const credentials = awsCredentials(apiKey, baseURL)
      return createAmazonBedrock({ baseURL, fetch, ...credentials }).languageModel(model)
    }
    case 'mistral': {
      const { createMistral } = await import('@ai-sdk/mistral')
      return createMistral(settings).languageModel(model)
    }
    case 'deepseek': {
      const { createDeepSeek } = await import('@ai-sdk/deepseek')
      return createDeepSeek(settings).languageModel(model)
    }
    case 'xai': {
      const { createXai } = await import('@ai-sdk/xai')
      return createXai(settings).responses(model)
    }
  }
}
