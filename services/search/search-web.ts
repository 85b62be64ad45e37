import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { JsonLimitError, parseForeignJson } from '../../domain/foreign-json.ts'
import { type SearchAccount, ownSearchUrls } from '../../domain/search-account.ts'
import type { Fetch } from '../outbound.ts'
import { maxResponseBytes, readStart } from '../tool-text.ts'

/** A page that a search has found. */
export interface FoundPage {
  title: string
  url: string
  text: string
}

const maxResults = 5

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Page = Type.Object({ title: Text, url: Type.String(), content: Text, description: Text })
const Pages = Type.Array(Page)

/** The members of the providers' answers that we use (docs.searxng.org/dev/search_api, docs.tavily.com). */
const SearchAnswer = Type.Object({ results: Pages })
/** Of Brave (api-dashboard.search.brave.com/app/documentation): no `web` where nothing was found. */
const BraveAnswer = Type.Object({
  type: Type.Literal('search'),
  web: Type.Optional(Type.Union([Type.Object({ results: Pages }), Type.Null()])),
})

/**
 * Searches the web at a provider. Throws an error whose message may be shown: it holds no key and no address. `fetch`
 * reaches what operators have set: it follows no redirects and asks no guard.
 */
export async function searchWeb(
  account: SearchAccount,
  query: string,
  { fetch, signal }: { fetch: Fetch; signal: AbortSignal },
): Promise<FoundPage[]> {
  const response = await ask(account, query, fetch, signal)
  if (!response.ok) {
    const hint = await hintOf(account, response)
    await response.body?.cancel()
    throw new Error(`the search service answered with status ${response.status}${hint}`)
  }
  const { bytes } = await readStart(response)
  const text = bytes.toString('utf8')
  const found =
    account.provider === 'brave' ? (parse(BraveAnswer, text).web?.results ?? []) : parse(SearchAnswer, text).results
  return found.slice(0, maxResults).map(pageOf)
}

/** As it is delivered, it answers people only (docs.searxng.org/admin/settings/settings_search). */
const searxngForbids = ': its settings must name the format json (search.formats)'

/** What can be done about a refusal. Brave answers a wrong key with 422. */
async function hintOf({ provider, apiKey = '' }: SearchAccount, response: Response): Promise<string> {
  const { status } = response
  if (provider === 'searxng' && status === 403) return searxngForbids
  if (apiKey === '') return ''
  if (status === 401 || status === 403) return keyRefused
  if (provider !== 'brave' || status !== 422) return ''
  const { bytes } = await readStart(response)
  return bytes.includes('SUBSCRIPTION_TOKEN') ? keyRefused : ''
}

const keyRefused = ': it does not accept the key'

async function ask(account: SearchAccount, query: string, fetch: Fetch, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(...requestOf(account, query, signal))
  } catch (cause) {
    signal.throwIfAborted()
    throw new Error('the search service could not be reached', { cause })
  }
}

function requestOf(
  { provider, baseUrl, apiKey = '' }: SearchAccount,
  query: string,
  signal: AbortSignal,
): [url: string, init: RequestInit] {
  const accept = 'application/json'
  switch (provider) {
    case 'searxng': {
      const search = new URLSearchParams({ q: query, format: 'json' })
      return [`${baseUrl}/search?${search.toString()}`, { signal, headers: { accept } }]
    }
    case 'brave': {
      // It takes 400 characters and 50 words, and marks what it has found unless it is told not to.
      const words = query.split(/\s+/).slice(0, 50).join(' ').slice(0, 400)
      const search = new URLSearchParams({ q: words, count: String(maxResults), text_decorations: 'false' })
      const url = `${baseUrl ?? ownSearchUrls.brave}/web/search?${search.toString()}`
      return [url, { signal, headers: { accept, 'x-subscription-token': apiKey } }]
    }
    case 'tavily':
      return [
        `${baseUrl ?? ownSearchUrls.tavily}/search`,
        {
          method: 'POST',
          signal,
          headers: { accept, authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ query, max_results: maxResults }),
        },
      ]
  }
}

function parse<Schema extends TSchema>(schema: Schema, text: string): Static<Schema> {
  try {
    const answer = parseForeignJson(text, { bytes: maxResponseBytes })
    if (Value.Check(schema, answer)) return answer
  } catch (error) {
    if (error instanceof JsonLimitError) throw new Error(`the answer of the search service ${error.message}`)
    // Otherwise it is not an answer of a search service: see below.
  }
  throw new Error('the search service sent an invalid answer')
}

function pageOf({ title, url, content, description }: Static<typeof Page>): FoundPage {
  return { title: oneLine(title) || url, url: url.trim(), text: oneLine(content ?? description) }
}

/** Without tags and line breaks: the result lists pages in lines. */
function oneLine(text: string | null | undefined): string {
  return (text ?? '')
    .replaceAll(/<\/?[a-z][^<>]{0,100}>/gi, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
