import type OpenAI from 'openai'

export const defaultBaseUrl = 'https://api.openai.com/v1'

interface ClientOptions {
  apiKey: string
  baseUrl: string | undefined
  /** Limits the silence of the server itself (`guarded-fetch.ts`). */
  fetch: typeof fetch
  silenceMs: number
}

/**
 * The `openai` client of one request; the package is loaded with the first. Its own retries are off, because Temporal
 * retries.
 */
export async function openClient({ apiKey, baseUrl, fetch, silenceMs }: ClientOptions): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai')
  return new Client({
    apiKey,
    baseURL: baseUrl ?? defaultBaseUrl,
    organization: null,
    project: null,
    maxRetries: 0,
    // The limit of `fetch` comes first: it says what happened.
    timeout: 2 * silenceMs,
    logLevel: 'off',
    fetch,
  })
}
