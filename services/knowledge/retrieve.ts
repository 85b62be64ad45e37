import type { PassageRows } from '../../domain/chunking/passage-rows.ts'
import type { PassagePage } from '../../domain/chunking/sentence-pages.ts'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileChunk } from '../../domain/records/chunk-group.ts'
import { type FileRecord, contentOf } from '../../domain/records/file.ts'
import { createKnownTexts } from '../../domain/search/known-texts.ts'
import { comparedMatches, rankByNames } from '../../domain/search/named-documents.ts'
import type { Collections } from '../collections.ts'
import { sourcePageStore } from '../stores/sources.ts'
import { spaceStore } from '../stores/vector-stores.ts'
import { documentName, withHeading } from './chunk-texts.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { Embedder } from './embedder.ts'
import { isOfModel, searchedSpace } from './embedding-model.ts'
import type { Reranker } from './reranker.ts'
import { isBefore } from './shared-content.ts'
import { contentStore } from './store.ts'
import { findChunks } from './stored-chunks.ts'
import type { VectorMatch, VectorStore } from './vector-store.ts'

/** A passage that was found, with everything that is needed to cite it. */
export interface Passage {
  file_id: string
  file_name: string
  /** Of other files with the same bytes. */
  copies?: string[]
  /** Of a page of the web: its address and its title. */
  url?: string
  title?: string
  /** The first page of the text. */
  page?: number
  last_page?: number
  heading?: string
  /** What stands above the rows with which the text begins. */
  caption?: string
  text: string
  pages?: NamedPage[]
  /** Of a table with numbered rows. */
  sheets?: PassageRows[]
  /** From 0 to 1, best first. */
  score: number
  /** Only with `explain`: see `VectorMatch`; `by_name`: the share of the document's name that the query holds. */
  by_meaning?: number
  by_words?: number
  by_name?: number
}

/** A page of a passage; of a passage on several pages with its first words there, because models do not count. */
type NamedPage = PassagePage & { starts_with?: string }

export interface RetrieveDeps {
  collections: KnowledgeCollections & Pick<Collections, 'assistants' | 'sourcePages'>
  vectors: Pick<VectorStore, 'search'>
  embedder: Embedder
  /** Undefined if none is configured. */
  reranker?: Reranker | undefined
}

export interface RetrieveInput {
  assistant: SearchedAssistant
  query: string
  limit: number
  /** Only passages of these files. */
  fileIds?: string[] | undefined
  /** Says why each passage was found. */
  explain?: boolean | undefined
}

type SearchedAssistant = Pick<AssistantRecord, '_id' | 'embedding_model' | 'vector_generation' | 'reembedding'>

/**
 * The passages of an assistant's ready files that match a query best. Throws `ModelFailure` if the query cannot be
 * embedded, and `AppError` `unavailable` if the vector store does not answer. After a change of the embedding model,
 * passages are found by their words only, and while the files are embedded anew, those that are done by meaning, too.
 */
export async function retrieve(deps: RetrieveDeps, input: RetrieveInput, signal?: AbortSignal): Promise<Passage[]> {
  const { assistant, query, limit, fileIds } = input
  const assistantId = assistant._id
  // More than requested: some may say the same.
  const candidates = Math.max(limit * 3, deps.reranker ? rerankedPassages : 0)
  const contents = contentStore(deps.collections)
  const contentIds = fileIds && (await contents.contentsOf(assistantId, fileIds))
  const compared = Math.max(comparedMatches, candidates)
  const found = await searchCurrent(deps, { assistant, query, limit: compared, fileIds: contentIds }, signal)
  const ready = await contents.listReady(assistantId, [...new Set(found.map((match) => match.fileId))])
  const current = await currentPages(deps.collections, ready)
  const wanted = fileIds && new Set(fileIds)
  const searchable = ready.filter((file) => current(file) && (wanted === undefined || wanted.has(file._id)))
  const filesOf = Map.groupBy(
    searchable.toSorted((a, b) => (isBefore(a, b) ? -1 : 1)),
    contentOf,
  )
  const namesOf = new Map([...filesOf].map(([id, files]) => [id, files.map(documentName)]))
  // Files that are being processed or deleted have no names.
  const named = found.flatMap((match) => {
    const names = namesOf.get(match.fileId)
    return names === undefined ? [] : { ...match, names }
  })
  const matches = rankByNames(query, named, ({ names }) => names).slice(0, candidates)
  const chunkOf = await findChunks(deps.collections, assistantId, matches)
  const passages: Passage[] = []
  const isKnown = createKnownTexts()
  const most = deps.reranker ? candidates : limit
  for (const { id, score, meaning, words, name } of matches) {
    const chunk = chunkOf.get(id)
    const [file, ...others] = (chunk && filesOf.get(chunk.fileId)) ?? []
    if (!chunk || !file || passages.length >= most || isKnown(chunk.text)) continue
    passages.push({
      ...passageOf(chunk, file, others),
      score: rounded(score),
      ...(input.explain && meaning !== undefined ? { by_meaning: rounded(meaning) } : {}),
      ...(input.explain && words !== undefined ? { by_words: rounded(words) } : {}),
      ...(input.explain && name !== undefined ? { by_name: rounded(name) } : {}),
    })
  }
  return deps.reranker ? (await reranked(deps.reranker, query, passages, signal)).slice(0, limit) : passages
}

/** What is said of a chunk, and of the file from which it is. */
export function passageOf(chunk: FileChunk, file: FileRecord, copies: FileRecord[] = []): Omit<Passage, 'score'> {
  return {
    // Callers know the entry of a vector store by the id of the project's file.
    file_id: file.source_id ?? file._id,
    file_name: file.name,
    ...namesOfCopies(file, copies),
    ...(file.web === undefined ? {} : { url: file.web.url }),
    ...(file.web?.title === undefined ? {} : { title: file.web.title }),
    ...(chunk.page === undefined ? {} : { page: chunk.page }),
    ...(chunk.last_page === undefined ? {} : { last_page: chunk.last_page }),
    ...(chunk.heading === undefined ? {} : { heading: chunk.heading }),
    ...(chunk.caption === undefined ? {} : { caption: chunk.caption }),
    text: chunk.text,
    ...(chunk.pages === undefined ? {} : { pages: namedPages(chunk.text, chunk.pages) }),
    ...(chunk.sheets === undefined ? {} : { sheets: chunk.sheets }),
  }
}

/** How many passages are read together with the question: at a server about a fifth of a second. */
const rerankedPassages = 30

/** The passages in the order of the reranker; as they are if it fails. */
async function reranked(
  reranker: Reranker,
  query: string,
  passages: Passage[],
  signal: AbortSignal | undefined,
): Promise<Passage[]> {
  if (passages.length < 2) return passages
  const texts = passages.map(withHeading)
  const scores = await reranker.rerank(query, texts, signal)
  if (scores === undefined) return passages
  return passages
    .map((passage, index) => ({ ...passage, score: rounded(scores[index] ?? 0) }))
    .toSorted((a, b) => b.score - a.score)
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000
}

/** A passage names so many copies of its file. */
const namedCopies = 5

/** A question may name any of them. */
function namesOfCopies({ name }: FileRecord, others: FileRecord[]): { copies?: string[] } {
  const names = new Set(others.map((other) => other.name))
  names.delete(name)
  return names.size === 0 ? {} : { copies: [...names].slice(0, namedCopies) }
}

/** Whether a file is searched: of a page of the web only the text that the page names now. */
export async function currentPages(
  collections: Pick<RetrieveDeps['collections'], 'sourcePages'>,
  files: FileRecord[],
): Promise<(file: FileRecord) => boolean> {
  const ids = files.flatMap(({ web }) => web?.page_id ?? [])
  const pages = ids.length === 0 ? [] : await sourcePageStore(collections).filesOf(ids)
  const named = new Set(pages.map(({ file_id: file }) => file))
  return ({ _id, web }) => web === undefined || named.has(_id)
}

const namingCharacters = 48

function namedPages(text: string, pages: PassagePage[]): NamedPage[] {
  if (pages.length === 1) return pages
  return pages.map(({ sentences, ...page }, index) => {
    const [begin = 0] = sentences
    const end = Math.min(begin + namingCharacters, pages[index + 1]?.sentences[0] ?? text.length)
    return { ...page, starts_with: text.slice(begin, end).trim().toWellFormed(), sentences }
  })
}

/** A search that finds nothing, or fails, is repeated if the assistant has taken another space in the meantime. */
async function searchCurrent(deps: RetrieveDeps, input: RetrieveInput, signal?: AbortSignal): Promise<VectorMatch[]> {
  let { assistant } = input
  for (;;) {
    const found = await searchSpaces(deps, { ...input, assistant }, signal).catch((error: unknown) => ({ error }))
    if (Array.isArray(found) && found.length > 0) return found
    const now = await spaceStore(deps.collections).find(assistant._id)
    if (now === null || searchedSpace(now) === searchedSpace(assistant)) {
      if (Array.isArray(found)) return found
      throw found.error
    }
    assistant = now
  }
}

/**
 * Searches the current space, and that which is being filled. The query is compared only with vectors of the model
 * that embeds it; of the others, only the words are searched.
 */
async function searchSpaces(
  { vectors, embedder }: RetrieveDeps,
  { assistant, query: text, limit, fileIds }: RetrieveInput,
  signal?: AbortSignal,
): Promise<VectorMatch[]> {
  const { reembedding } = assistant
  const isComparable = isOfModel(assistant, embedder.model)
  const filled = reembedding?.model === embedder.model ? vectorSpace(assistant._id, reembedding.generation) : undefined
  const isEmbedded = embedder.isWordsOnly !== true && (isComparable || filled !== undefined)
  const [vector] = isEmbedded ? await embedder.embed([text], signal) : []
  const current = { vector: isComparable ? vector : undefined, text, limit, fileIds }
  if (filled === undefined) return vectors.search(searchedSpace(assistant), current)
  const found = await Promise.all([
    vectors.search(searchedSpace(assistant), current),
    vectors.search(filled, { vector, text, limit, fileIds }),
  ])
  const best = new Map<string, VectorMatch>()
  for (const match of found.flat().toSorted((a, b) => b.score - a.score))
    if (!best.has(match.id)) best.set(match.id, match)
  return [...best.values()].slice(0, limit)
}
