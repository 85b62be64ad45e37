import { type ProviderKind, usualBaseUrls, usualKind } from '../../domain/model-providers.ts'
import { defaultBaseUrl } from './guarded-fetch.ts'
import { isAccessKey } from './native/aws-credentials.ts'

interface Account {
  kind?: ProviderKind | undefined
  apiKey: string
  baseUrl?: string | undefined
}

/** The address of a provider, without a slash at its end. */
export function addressOf({ kind = usualKind, baseUrl }: Pick<Account, 'kind' | 'baseUrl'>): string {
  return (baseUrl ?? usualBaseUrls[kind] ?? defaultBaseUrl).replace(/\/+$/, '')
}

/** Whether an account is asked only with signed requests, as those of its provider package are. */
export function isSigned({ kind, apiKey }: Pick<Account, 'kind' | 'apiKey'>): boolean {
  return kind === 'bedrock' && isAccessKey(apiKey)
}

/** The headers in which a provider wants its key. */
export function keyHeaders({ kind = usualKind, apiKey }: Pick<Account, 'kind' | 'apiKey'>): Record<string, string> {
  switch (kind) {
    case 'anthropic':
      return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
    case 'google':
      return { 'x-goog-api-key': apiKey }
    case 'azure':
      return { 'api-key': apiKey }
    default:
      return isSigned({ kind, apiKey }) ? {} : { authorization: `Bearer ${apiKey}` }
  }
}

/** Where a provider lists its models. */
export function modelListUrl(account: Pick<Account, 'kind' | 'baseUrl'>): string {
  const address = addressOf(account)
  switch (account.kind) {
    case 'anthropic':
    case 'google':
      return `${address}/models?${account.kind === 'google' ? 'pageSize' : 'limit'}=1000`
    // Another host than that of answers.
    case 'bedrock':
      return `${address.replace('//bedrock-runtime.', '//bedrock.')}/foundation-models`
    // As its provider package completes the address.
    case 'azure':
      return address.endsWith('.azure.com/openai') ? `${address}/v1/models` : `${address}/models`
    default:
      return `${address}/models`
  }
}

/** Whether vectors are asked for as at OpenAI. */
export function hasUsualEmbeddings(kind: ProviderKind = usualKind): boolean {
  return ['openai-compatible', 'openai-responses', 'mistral'].includes(kind)
}
