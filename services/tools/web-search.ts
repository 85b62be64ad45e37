import Type from 'typebox'
import { Value } from 'typebox/value'
import type { SearchAccount } from '../../domain/search-account.ts'
import type { Fetch } from '../outbound.ts'
import { searchWeb } from '../search/search-web.ts'
import { limitText } from '../tool-text.ts'
import type { JsonSchema, Tool } from '../tool.ts'

const WebSearchArguments = Type.Object(
  { query: Type.String({ minLength: 1, description: 'What to search the web for.' }) },
  { additionalProperties: false },
)

export const webSearchParameters: JsonSchema = { ...WebSearchArguments }

export const webSearchDescription = 'Searches the web and returns titles, addresses and excerpts of the best pages.'

/** The address of the search service is the operator's, not a user's, so `fetch` is not guarded. */
export function webSearchTool(name: string, account: SearchAccount, fetch: Fetch): Tool {
  return {
    type: 'web_search',
    name,
    description: webSearchDescription,
    parameters: webSearchParameters,
    safeToRepeat: true,
    timeoutMs: 20_000,
    async execute(args, { signal }) {
      const { query } = Value.Parse(WebSearchArguments, args)
      const pages = await searchWeb(account, query, { fetch, signal })
      if (pages.length === 0) return 'Nothing was found.'
      const shown = pages.map(({ title, url, text }, index) => `[${index + 1}] ${title}\n${url}\n${text}`.trim())
      return limitText(shown.join('\n\n'))
    },
  }
}
