import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { JsonLimitError, parseForeignJson } from '../../domain/foreign-json.ts'
import type { Fetch } from '../outbound.ts'
import type { JsonSchema, Tool } from '../tool.ts'
import { limitText, maxResponseBytes, readStart } from '../tool-text.ts'

export interface WebSearchSettings {
  searchProvider?: 'searxng' | 'tavily' | undefined
  /** Base address; default: Tavily's own. */
  searchUrl?: string | undefined
  searchApiKey?: string | undefined
}

const WebSearchArguments = Type.Object(
  { query: Type.String({ minLength: 1, description: 'What to search the web for.' }) },
  { additionalProperties: false },
)

export const webSearchParameters: JsonSchema = { ...WebSearchArguments }

export const webSearchDescription = 'Searches the web and returns titles, addresses and excerpts of the best pages.'

/** The members of both providers' answers that we use (docs.searxng.org/dev/search_api, docs.tavily.com). */
const SearchAnswer = Type.Object({
  results: Type.Array(
    Type.Object({
      title: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      url: Type.String(),
      content: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    }),
  ),
})

const maxResults = 5

/** Whether the settings are sufficient for a search. */
export function canSearch({ searchProvider, searchUrl, searchApiKey }: WebSearchSettings): boolean {
  return searchProvider === 'searxng'
    ? searchUrl !== undefined
    : searchProvider === 'tavily' && searchApiKey !== undefined
}

/** The address of the search service comes from the settings, not from users, so `fetch` is not guarded. */
export function webSearchTool(name: string, settings: WebSearchSettings, fetch: Fetch): Tool {
  return {
    type: 'web_search',
    name,
    description: webSearchDescription,
    parameters: webSearchParameters,
    safeToRepeat: true,
    timeoutMs: 20_000,
    async execute(args, { signal }) {
      const { query } = Value.Parse(WebSearchArguments, args)
      const response = await ask(settings, query, fetch, signal)
      if (!response.ok) {
        await response.body?.cancel()
        throw new Error(`the search service answered with status ${response.status}`)
      }
      const { bytes } = await readStart(response)
      return limitText(listOf(parse(bytes.toString('utf8'))))
    },
  }
}

async function ask(settings: WebSearchSettings, query: string, fetch: Fetch, signal: AbortSignal): Promise<Response> {
  try {
    if (settings.searchProvider === 'searxng') {
      const url = `${settings.searchUrl}/search?${new URLSearchParams({ q: query, format: 'json' }).toString()}`
      return await fetch(url, { signal, headers: { accept: 'application/json' } })
    }
    return await fetch(`${settings.searchUrl ?? 'https://api.tavily.com'}/search`, {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${settings.searchApiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: maxResults }),
    })
  } catch (cause) {
    signal.throwIfAborted()
    throw new Error('the search service could not be reached', { cause })
  }
}

function parse(text: string): Static<typeof SearchAnswer> {
  try {
    const answer = parseForeignJson(text, { bytes: maxResponseBytes })
    if (Value.Check(SearchAnswer, answer)) return answer
  } catch (error) {
    if (error instanceof JsonLimitError) throw new Error(`the answer of the search service ${error.message}`)
    // Otherwise it is not an answer of a search service: see below.
  }
  throw new Error('the search service sent an invalid answer')
}

function listOf({ results }: Static<typeof SearchAnswer>): string {
  if (results.length === 0) return 'Nothing was found.'
  return results
    .slice(0, maxResults)
    .map(({ title, url, content }, index) => `[${index + 1}] ${title || url}\n${url}\n${content ?? ''}`.trim())
    .join('\n\n')
}
