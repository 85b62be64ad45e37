import { parseOwnJson } from './own-json.ts'

/** What one run searches instead of what its assistant's search is set up to search. */
export interface SearchOverride {
  /** Vector stores of the project, in addition to the assistant's files. */
  vectorStores: string[]
  /** Of these vector stores, those whose files are waited for: they have just come with messages. */
  awaited?: string[]
  /** The vector stores of the assistant are not searched. */
  inPlaceOfStores?: boolean
  limit?: number
  scoreThreshold?: number
  /** An `AttributeFilter` for the entries of the vector stores. */
  filter?: unknown
}

export function readSearchOverride(text: string | undefined): SearchOverride | undefined {
  return text === undefined ? undefined : parseOwnJson<SearchOverride>(text)
}
