import { type MemoryScope, scopeKey } from '../../domain/memory/memory-scope.ts'
import { type MemoryRecord, memoryLimits } from '../../domain/records/memory.ts'
import { termsOf } from '../../domain/search/terms.ts'
import type { Collections } from '../collections.ts'
import type { Embedder } from '../knowledge/embedder.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'
import { type EmbedFacts, spaceOf } from './embed-facts.ts'
import { type ListedFact as Listed, factStore } from './store.ts'

interface FindFactsDeps {
  collections: Pick<Collections, 'memories'>
  vectors: Pick<VectorStore, 'search'>
  embedder: Embedder | undefined
  embedFacts: EmbedFacts
  onError(error: unknown): void
}

interface FactQuery {
  query: string
  limit: number
  /** All facts are returned, newest first and without a search, if there are no more than `limit`. */
  mayBeAll?: boolean
  signal: AbortSignal
}

/** A run waits no longer for the embedding model and the vector store; then facts are found by their words. */
const searchMs = 5000
/** Facts without vector that a search embeds first. */
const repairedAtOnce = 32

export type FindFacts = ReturnType<typeof createFindFacts>

/**
 * Finds the facts of these scopes that match a query best. Only facts whose records are in the scopes are found,
 * whatever the vector store answers. Facts without a vector are embedded first, or found by their words.
 */
export function createFindFacts({ collections, vectors, embedder, embedFacts, onError }: FindFactsDeps) {
  const store = factStore(collections)
  const most = memoryLimits.ofUser + memoryLimits.ofCaller

  return async function findFacts(
    scopes: MemoryScope[],
    { query: whole, limit, mayBeAll = false, signal }: FactQuery,
  ): Promise<MemoryRecord[]> {
    const query = whole.slice(0, memoryLimits.queryLength).toWellFormed()
    const own = scopes.map(scopeKey)
    const listed = await store.listInScopes(own, most)
    if (listed.length === 0) return []
    const ids = listed.map(({ _id }) => _id)
    if (mayBeAll && ids.length <= limit) return read(ids)

    const time = AbortSignal.any([signal, AbortSignal.timeout(searchMs)])
    const repaired = await repair(listed, time)
    const isSearched = ({ _id, embedded_with: model }: Listed) =>
      embedder !== undefined && (model === embedder.model || repaired.has(_id))
    const nearest = await search(scopes, listed.filter(isSearched), { query, limit, signal: time }).catch(
      (error: unknown) => {
        signal.throwIfAborted()
        onError(error)
      },
    )
    const others = listed.filter((fact) => nearest === undefined || !isSearched(fact)).map(({ _id }) => _id)
    const scores = new Map([...(nearest ?? []), ...(await byWords(others, query))])
    return read(best(scores, limit))

    async function read(chosen: string[]): Promise<MemoryRecord[]> {
      const found = await store.findInScopes(own, chosen)
      const byId = new Map(found.map((fact) => [fact._id, fact]))
      return chosen.flatMap((id) => byId.get(id) ?? [])
    }

    async function byWords(some: string[], text: string): Promise<[string, number][]> {
      const wanted = new Set(termsOf(text))
      if (some.length === 0 || wanted.size === 0) return []
      const facts = await store.findInScopes(own, some)
      return facts.flatMap((fact): [string, number][] => {
        const shared = [...new Set(termsOf(fact.text))].filter((term) => wanted.has(term)).length
        return shared === 0 ? [] : [[fact._id, shared / wanted.size]]
      })
    }
  }

  /** Embeds facts whose process died before their vector was stored, or whose vector is of another model. */
  async function repair(listed: Listed[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    if (embedder === undefined) return new Set()
    const { model } = embedder
    const missing = listed.filter((fact) => fact.embedded_with !== model && fact.refused_by !== model)
    const ids = missing.slice(0, repairedAtOnce).map(({ _id }) => _id)
    if (ids.length === 0) return new Set()
    try {
      const scopes = [...new Set(missing.map(({ scope }) => scope))]
      await embedFacts(await store.findInScopes(scopes, ids), signal)
      return await store.embeddedOfAny(ids, model)
    } catch (error) {
      onError(error)
      return new Set()
    }
  }

  async function search(
    scopes: MemoryScope[],
    listed: Listed[],
    { query, limit, signal }: { query: string; limit: number; signal: AbortSignal },
  ): Promise<[string, number][]> {
    if (embedder === undefined || listed.length === 0) return []
    const [vector] = await embedder.embed([query], signal)
    const searches = scopes.map(async (scope) => {
      const fileIds = listed.filter((fact) => fact.scope === scopeKey(scope)).map(({ _id }) => _id)
      if (fileIds.length === 0) return []
      return vectors.search(spaceOf(scope, embedder.model), { vector, text: query, limit, fileIds })
    })
    const found = await before(signal, Promise.all(searches))
    return found.flat().map(({ fileId, score }) => [fileId, score])
  }
}

function best(scores: Map<string, number>, limit: number): string[] {
  return [...scores]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, limit)
    .map(([id]) => id)
}

/** Throws the signal's reason if it comes first. Stores take no signals. */
async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
