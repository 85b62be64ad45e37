import { invalidInput } from '../../domain/errors.ts'
import type { SearchRecord } from '../../domain/records/model-settings.ts'
import { type SearchAccount, type SearchProvider, searchAccountOf } from '../../domain/search-account.ts'
import { type SecretBox, hintOf } from '../secrets.ts'
import { checkedUrl } from './operator-input.ts'

/** What operators see of the web search. Contains no key. */
export interface WebSearchView {
  provider: SearchProvider | null
  base_url: string | null
  source: 'environment' | 'stored'
  /** `unreadable`: sealed under a key that this process does not have. */
  key: 'none' | 'set' | 'unreadable'
  key_hint: string
}

export interface SearchChange {
  /** Null: the web is not searched. */
  provider: SearchProvider | null
  base_url?: string | null | undefined
  /** Absent: the key stays, if provider and address stay. Null: no key. */
  api_key?: string | null | undefined
}

/** Where the web is searched after an operator's change; undefined for nowhere. */
export function searchAfter(
  secretBox: Pick<SecretBox, 'seal'>,
  known: SearchRecord | undefined,
  { provider, base_url: given, api_key: key }: SearchChange,
): SearchRecord | undefined {
  if (provider === null) return undefined
  if (provider === 'searxng' && !given)
    throw invalidInput(['body', 'base_url'], 'SearXNG needs the address of a server')
  const account = { provider, ...(given ? { base_url: checkedUrl(given) } : {}) }
  if (key) return { ...account, key_hint: hintOf(key), sealed_key: secretBox.seal(key, contextOf(account)) }
  // A key was given for its provider and address: it is never sent elsewhere.
  const isSame = known?.provider === provider && known.base_url === account.base_url
  const isKeyReused = key === undefined && isSame && known.sealed_key !== undefined
  return isKeyReused
    ? { ...account, key_hint: known.key_hint, sealed_key: known.sealed_key }
    : { ...account, key_hint: '' }
}

/** What the environment says wins. */
export function toWebSearch(
  environment: SearchAccount | undefined,
  stored: SearchRecord | undefined,
  secretBox: Pick<SecretBox, 'open'>,
): WebSearchView {
  if (environment !== undefined) {
    const { provider, baseUrl = null, apiKey } = environment
    const key = apiKey === undefined ? 'none' : 'set'
    return { provider, base_url: baseUrl, source: 'environment', key, key_hint: '' }
  }
  if (stored === undefined) return { provider: null, base_url: null, source: 'stored', key: 'none', key_hint: '' }
  const { provider, base_url: url = null, sealed_key: sealed, key_hint: hint } = stored
  const key = sealed === undefined ? 'none' : searchKey(stored, secretBox) === undefined ? 'unreadable' : 'set'
  return { provider, base_url: url, source: 'stored', key, key_hint: hint }
}

/** With its key sealed under the current `SECRETS_KEY`. */
export function resealedSearch(secretBox: SecretBox, record: SearchRecord): SearchRecord {
  const key = searchKey(record, secretBox)
  if (key === undefined || record.sealed_key === undefined) return record
  return { ...record, sealed_key: secretBox.seal(key, contextOf(record)) }
}

export function storedSearch(
  record: SearchRecord | undefined,
  secretBox: Pick<SecretBox, 'open'>,
): SearchAccount | undefined {
  if (record === undefined) return undefined
  return searchAccountOf({
    provider: record.provider,
    baseUrl: record.base_url,
    apiKey: searchKey(record, secretBox),
  })
}

/** Undefined if there is none, or it is sealed under a key that this process does not have. */
function searchKey(
  { sealed_key: sealed, ...account }: SearchRecord,
  secretBox: Pick<SecretBox, 'open'>,
): string | undefined {
  if (sealed === undefined) return undefined
  try {
    return secretBox.open(sealed, contextOf(account))
  } catch {
    return undefined
  }
}

/** A sealed key is bound to this: it cannot be opened for another provider or another address. */
function contextOf({ provider, base_url: url = '' }: Pick<SearchRecord, 'provider' | 'base_url'>): string {
  return `search\n${provider}\n${url}`
}
