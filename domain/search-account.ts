export const searchProviders = ['searxng', 'brave', 'tavily'] as const
export type SearchProvider = (typeof searchProviders)[number]

/** Where the web is searched. */
export interface SearchAccount {
  provider: SearchProvider
  /** Undefined: the provider's own. SearXNG has none. */
  baseUrl: string | undefined
  /** SearXNG takes none. */
  apiKey: string | undefined
}

/** Where a provider answers that has one address for everybody. */
export const ownSearchUrls = {
  brave: 'https://api.search.brave.com/res/v1',
  tavily: 'https://api.tavily.com',
} as const

/** The account that these settings name; undefined if they are not sufficient for a search. */
export function searchAccountOf({ provider, baseUrl, apiKey }: Partial<SearchAccount>): SearchAccount | undefined {
  if (provider === undefined) return undefined
  const isEnough = provider === 'searxng' ? baseUrl !== undefined : apiKey !== undefined
  return isEnough ? { provider, baseUrl, apiKey } : undefined
}
