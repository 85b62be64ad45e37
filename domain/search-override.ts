import { parseOwnJson } from './own-json.ts'
import type { RunOverrides } from './records/run.ts'
import type { ThreadRecord } from './records/thread.ts'

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

/** What a run searches because of its thread, and the vector stores that it names in place of its assistant's. */
export function searchOf(
  { vector_stores: ofThread = [] }: Pick<ThreadRecord, 'vector_stores'>,
  stores?: string[],
): Pick<RunOverrides, 'search_json'> {
  if (ofThread.length === 0 && stores === undefined) return {}
  const search: SearchOverride = {
    vectorStores: [...(stores ?? []), ...ofThread],
    awaited: ofThread,
    ...(stores === undefined ? {} : { inPlaceOfStores: true }),
  }
  return { search_json: JSON.stringify(search) }
}

export function readSearchOverride(text: string | undefined): SearchOverride | undefined {
  return text === undefined ? undefined : parseOwnJson<SearchOverride>(text)
}
