import { parseOwnJson } from './json.ts'
import type { ToolCall } from './messages.ts'
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
  /** Of the assistant's files, only these are searched, and no vector stores. */
  files?: string[]
  /** An `AttributeFilter` for the entries of the vector stores. */
  filter?: unknown
}

/** What a run searches because of its thread, and the vector stores or files that it names in place of its assistant's. */
export function searchOf(
  { vector_stores: ofThread = [] }: Pick<ThreadRecord, 'vector_stores'>,
  { stores, files = [] }: { stores?: string[] | undefined; files?: string[] | undefined } = {},
): Pick<RunOverrides, 'search_json'> {
  if (ofThread.length === 0 && stores === undefined && files.length === 0) return {}
  const search: SearchOverride = {
    vectorStores: [...(stores ?? []), ...ofThread],
    awaited: ofThread,
    ...(stores === undefined ? {} : { inPlaceOfStores: true }),
    ...(files.length === 0 ? {} : { files }),
  }
  return { search_json: JSON.stringify(search) }
}

/** The same search, with these vector stores, too. */
export function withStores(searchJson: string | undefined, stores: string[]): string {
  const search = readSearchOverride(searchJson) ?? { vectorStores: [] }
  const awaited = [...(search.awaited ?? []), ...stores]
  return JSON.stringify({ ...search, vectorStores: [...search.vectorStores, ...stores], awaited })
}

export function readSearchOverride(text: string | undefined): SearchOverride | undefined {
  return text === undefined ? undefined : parseOwnJson<SearchOverride>(text)
}

/** What a run wants of the tool that executes code. */
export interface CodeOverride {
  /** The run has the tool, even if its assistant does not. */
  isAdded?: boolean
  /** The container whose session the code goes on in (the id of its thread); default: the session of the run's thread. */
  container?: string
  /** Files of the project that a session has, beside those of the assistant. */
  files?: string[]
  /** Those of the assistant are left out. */
  inPlaceOfFiles?: boolean
  /** What code writes becomes files of the project, too. */
  keepsFiles?: boolean
}

export function readCodeOverride(text: string | undefined): CodeOverride | undefined {
  return text === undefined ? undefined : parseOwnJson<CodeOverride>(text)
}

/** A call that an earlier run of the conversation asked for, and that a person has allowed since. */
export interface ApprovedCall {
  call: ToolCall
  /** The message of the run's input that says so. Without it the call was made before, and is not made again. */
  decision: string
}

export function readApprovedCalls(json: string | undefined): ApprovedCall[] {
  return json === undefined ? [] : parseOwnJson<ApprovedCall[]>(json)
}
