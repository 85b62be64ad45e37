import { setTimeout } from 'node:timers/promises'
import { cutText } from '../../domain/cut-text.ts'
import { parseOwnJson } from '../../domain/json.ts'
import type { AssistantRecord, StoredAssistant, VectorStoreRecord } from '../../domain/records/assistant.ts'
import type { SearchOverride } from '../../domain/run-overrides.ts'
import { createKnownTexts } from '../../domain/search/known-texts.ts'
import { leansOnOthers, withSubject } from '../../domain/search/leaning-query.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Collections } from '../collections.ts'
import { fileStore } from '../stores/files.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import { vectorStoreStore } from '../stores/vector-stores.ts'
import type { CallFacts, Tool } from '../tool.ts'
import type { AttributeFilter } from './attribute-filter.ts'
import type { Embedder } from './embedder.ts'
import { isOfModel } from './embedding-model.ts'
import { listNames, namedAmong, namedFiles, readFilePart } from './read-file.ts'
import { retrievalConfigOf } from './retrieval-config.ts'
import { type Passage, type RetrieveDeps, retrieve } from './retrieve.ts'
import { wantedEntries } from './search-entries.ts'
import { isExpired, noteActivity } from './vector-stores.ts'

const retrievalPassages = 5
const maxQueryCharacters = 2000
const citingPages =
  'Cite the page of the sentence that you use. In a passage on several pages, `pages` says with which words each page begins.'
const foundByWordsOnly =
  'The files were embedded with another model than the server uses now. Until they have been embedded anew, many passages are found only if they contain words of the query, and with some vector stores not at all.'

const notYetReady =
  'Some files that came with this conversation are still being processed, and were not searched. Say so, and that a later question can find more.'
const searchMs = 30_000
/** How long a search waits for files that came with the conversation, as the assistants API does. */
const awaitMs = 60_000
const pollEveryMs = 250

type RetrievalDeps = RetrieveDeps & {
  collections: Pick<Collections, 'toolCalls'>
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
}

/** Creates the retrieval tools of assistants; without a model that embeds, none has one. */
export function createRetrievalTools(deps: Omit<RetrievalDeps, 'embedder'> & { embedder: Embedder | undefined }) {
  const { embedder } = deps
  return async (assistant: AssistantRecord, options: RetrievalToolOptions): Promise<Tool | undefined> =>
    embedder && createRetrievalTool({ ...deps, embedder }, assistant, options)
}

export interface RetrievalToolOptions {
  name: string
  search?: SearchOverride | undefined
  /** Whether the model is told the names of the files, and may read them in order. */
  readsFiles: boolean
}

/**
 * The tool with which a model searches the assistant's files, and reads one in order; undefined if none is ready. Its
 * result is JSON, `{passages: [{file_name, copies?, url?, title?, page?, last_page?, heading?, caption?, text, pages?,
 * score}]}`, so that the model can cite each sentence by file and page or heading; of a file also `part`, `parts` and
 * `outline?`.
 */
async function createRetrievalTool(
  deps: RetrievalDeps,
  assistant: AssistantRecord,
  { name, search, readsFiles }: RetrievalToolOptions,
): Promise<Tool | undefined> {
  const { retrievalDescription, tools, vectorStores } = deps.assistantConfigs.settingsOf(assistant)
  const awaited = search?.awaited ?? []
  const { searched, names, hasMore } = await searchedOwners(
    deps,
    assistant,
    [...new Set([...(search?.inPlaceOfStores ? [] : vectorStores), ...(search?.vectorStores ?? [])])],
    { awaited, search },
  )
  if (searched.length === 0) return undefined
  const config = retrievalConfigOf(tools)
  const limit = search?.limit ?? config.max_num_results ?? retrievalPassages
  const threshold = search?.scoreThreshold ?? config.ranking_options?.score_threshold ?? 0
  return {
    type: 'retrieval',
    name,
    description: retrievalDescription,
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, description: whatToLookFor },
        ...(readsFiles ? readingParameters(names, hasMore) : {}),
      },
      required: ['query'],
      additionalProperties: false,
    },
    safeToRepeat: true,
    timeoutMs: searchMs + (awaited.length > 0 ? awaitMs : 0),
    async execute(args, { signal, call }) {
      const isComplete = await filesAreReady(deps.collections, awaited, signal)
      const waiting = isComplete ? [] : [notYetReady]
      const owners = await Promise.all(
        searched.map(async (owner) => ({ owner, fileIds: await wantedFiles(deps, owner, search) })),
      )
      for (const owner of searched) if (isStore(owner)) await noteActivity(deps.collections, owner)
      const wanted = readsFiles && typeof args['file'] === 'string' ? args['file'].trim() : ''
      if (wanted !== '') {
        const file = { name: namedAmong(names, wanted), part: Number(args['part'] ?? 1) }
        const found = await readFilePart(deps, owners, file)
        const notice =
          found === undefined
            ? [`There is no ready file of this name. The files: ${listNames(names, hasMore)}.`]
            : found.passages.length === 0
              ? [`The file has no part ${found.part}: it has ${found.parts}.`]
              : []
        return resultOf(found ?? { passages: [] }, [...notice, ...waiting])
      }
      const query = await completeQuery(deps.collections, queryIn(args), { name, call })
      const embed = onceEmbedded(deps.embedder)
      const searches = owners.map(async ({ owner, fileIds }) =>
        fileIds?.length === 0
          ? []
          : retrieve({ ...deps, embedder: embed }, { assistant: owner, query, limit, fileIds }, signal),
      )
      const found = (await Promise.all(searches)).flat()
      if (searched.length > 1) found.sort((a, b) => b.score - a.score)
      const isKnown = createKnownTexts()
      const passages = found.filter(({ score, text }) => score >= threshold && !isKnown(text)).slice(0, limit)
      const byWords = searched.every((owner) => isOfModel(owner, deps.embedder.model)) ? [] : [foundByWordsOnly]
      return resultOf({ passages }, [...byWords, ...waiting])
    },
  }
}

/** Consumers tell a result by its first member (`domain/knowledge/citations.ts`). */
function resultOf({ passages, ...facts }: { passages: Passage[] }, notices: string[]): string {
  const citing = passages.some(({ pages = [] }) => pages.length > 1) ? { citing: citingPages } : {}
  const notice = notices.length === 0 ? {} : { notice: notices.join(' ') }
  return JSON.stringify({ passages, ...facts, ...citing, ...notice })
}

function readingParameters(names: string[], hasMore: boolean) {
  const files = names.length === 0 ? '' : ` The files: ${listNames(names, hasMore)}.`
  return {
    file: {
      type: 'string',
      description: `To read one file in order instead of searching all of them, as for a summary: its name, as in \`file_name\`.${files}`,
    },
    part: {
      type: 'integer',
      minimum: 1,
      description: 'With `file`: which part of it, from 1. The result says how many there are, and what stands where.',
    },
  }
}

/** The model knows the conversation, so that no other needs to be asked what "and in 2023?" is about. */
const whatToLookFor =
  'What to look for, in the words that the files may use. Complete in itself: name what the conversation is about, ' +
  'as in "revenue of Example Ltd in 2023", never only "and in 2023?".'

function queryIn(args: Record<string, unknown>): string {
  return typeof args['query'] === 'string' ? cutText(args['query'], maxQueryCharacters) : ''
}

/** Among so many is one that names its subject. */
const queriesBefore = 5

/** A query that names nothing by itself gets the subject of the last one of its conversation. Asks no model. */
async function completeQuery(
  collections: Pick<Collections, 'toolCalls'>,
  query: string,
  { name, call: { key, threadId } }: { name: string; call: CallFacts },
): Promise<string> {
  if (threadId === undefined || !leansOnOthers(query)) return query
  const before = await toolCallStore(collections).listDone(threadId, { name, except: key, most: queriesBefore })
  const queries = before.map(({ args_json: json }) => queryIn(parseOwnJson(json)))
  return withSubject(
    query,
    queries.find((one) => !leansOnOthers(one)),
  )
}

/** The files of an assistant, or the entries of a vector store, that the filter of a run wants; undefined: all. */
async function wantedFiles(
  { collections }: Pick<RetrieveDeps, 'collections'>,
  owner: StoredAssistant,
  search: SearchOverride | undefined,
): Promise<string[] | undefined> {
  if (search?.files !== undefined) return isStore(owner) ? [] : search.files
  if (search?.filter === undefined) return undefined
  return wantedEntries(collections, owner._id, search.filter as AttributeFilter)
}

/**
 * Of the assistant and its vector stores, those that have a ready file, and the names of the newest uploaded files that
 * may be read. Stores of another project do not count.
 */
async function searchedOwners(
  { collections }: Pick<RetrieveDeps, 'collections'>,
  assistant: AssistantRecord,
  storeIds: string[],
  { awaited, search = { vectorStores: [] } }: { awaited: string[]; search?: SearchOverride | undefined },
): Promise<{ searched: StoredAssistant[]; names: string[]; hasMore: boolean }> {
  const stores =
    storeIds.length === 0 ? [] : await vectorStoreStore(collections).listOwned(assistant.project_id, storeIds)
  const owners = [assistant, ...stores.filter((store) => !isExpired(store))].filter(
    ({ has_files: hasFiles }) => hasFiles !== false,
  )
  const files = await Promise.all(
    owners.map(({ _id }) =>
      fileStore(collections).listSearched(_id, namedFiles + 1, { orOpen: awaited.includes(_id) }),
    ),
  )
  // Which entries a filter wants is not known here.
  const mayBeNamed = ({ _id, web }: (typeof files)[number][number]) =>
    web === undefined && search.filter === undefined && (search.files?.includes(_id) ?? true)
  const uploaded = files.flatMap((list) => list.slice(0, namedFiles)).filter(mayBeNamed)
  return {
    searched: owners.filter((_owner, index) => files[index]?.length !== 0),
    names: [...new Set(uploaded.map((file) => file.name))].slice(0, namedFiles),
    hasMore: uploaded.length > namedFiles || files.some((list) => list.length > namedFiles),
  }
}

/** Waits until the files of these vector stores are processed; false if some are not when the time is over. */
async function filesAreReady(
  collections: Pick<RetrieveDeps['collections'], 'files'>,
  storeIds: string[],
  signal: AbortSignal,
): Promise<boolean> {
  if (storeIds.length === 0) return true
  const isOpen = () => fileStore(collections).hasOpen(storeIds)
  for (const end = performance.now() + awaitMs; performance.now() < end;) {
    if (!(await isOpen())) return true
    await setTimeout(pollEveryMs, undefined, { signal })
  }
  return !(await isOpen())
}

function isStore(owner: StoredAssistant): owner is VectorStoreRecord {
  return owner.kind === 'vector_store'
}

/** Embeds each query once, for all spaces. */
function onceEmbedded(embedder: Embedder): Embedder {
  const known = new Map<string, Promise<number[][]>>()
  return {
    ...embedder,
    embed(texts, signal) {
      const key = texts.join('\n')
      const vectors = known.get(key) ?? embedder.embed(texts, signal)
      known.set(key, vectors)
      return vectors
    },
  }
}
