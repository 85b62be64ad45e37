import { reasonOf } from '../../domain/reason-of.ts'
import type { SearchAccount } from '../../domain/search-account.ts'
import type { SearchChange, WebSearchView } from '../models/search-record.ts'
import type { Fetch } from '../outbound.ts'
import { type FoundPage, searchWeb } from './search-web.ts'

/** What operators see of the web search, and of the servers that search in files. Contains no keys. */
interface SearchView {
  web: WebSearchView
  embedding: KnowledgeServer & { dimensions: number | null }
  reranking: KnowledgeServer
}

/** `built_in`: the model of this service. `words`: files are searched by their words. `none`: not set. */
export interface KnowledgeServer {
  kind: 'server' | 'built_in' | 'words' | 'none'
  base_url: string | null
  model: string | null
  key: 'none' | 'set'
}

export interface SearchTrial {
  works: boolean
  ms: number
  /** Why it does not work; may quote the server, without keys. */
  problem: string | null
  pages: FoundPage[]
  dimensions: number | null
  /** How well each of the texts fits, from 0 to 1. */
  scores: { text: string; score: number }[]
}

export type TriedSearch = 'web' | 'embedding' | 'reranking'

interface SearchOperationDeps {
  settings: {
    searchView(): Promise<WebSearchView>
    putSearch(change: SearchChange): Promise<WebSearchView>
  }
  account(): SearchAccount | undefined
  knowledge: Pick<SearchView, 'embedding' | 'reranking'>
  /** Undefined where no model embeds. */
  embed: ((texts: string[], signal: AbortSignal) => Promise<number[][]>) | undefined
  rerank: ((query: string, texts: string[], signal: AbortSignal) => Promise<number[]>) | undefined
  fetch: Fetch
}

const tryMs = 20_000
/** One of them is about any question that names a harbour; the order shows whether the server reads. */
const triedTexts = ['Ships lie in the harbour.', 'Bread is baked from flour and water.', 'The moon moves the tides.']

/** What operators do on the page of searches. */
export function createSearchOperation({ settings, account, knowledge, embed, rerank, fetch }: SearchOperationDeps) {
  const view = async (web = settings.searchView()): Promise<SearchView> => ({ web: await web, ...knowledge })

  async function tryOne(what: TriedSearch, query: string, signal: AbortSignal): Promise<Partial<SearchTrial>> {
    switch (what) {
      case 'web': {
        const now = account()
        if (now === undefined) throw new Error('no search service is set')
        return { pages: await searchWeb(now, query, { fetch, signal }) }
      }
      case 'embedding': {
        if (embed === undefined) throw new Error('no server for embeddings is set')
        const [vector] = await embed([query], signal)
        return { dimensions: vector?.length ?? null }
      }
      case 'reranking': {
        if (rerank === undefined) throw new Error('no server for reranking is set')
        const scores = await rerank(query, triedTexts, signal)
        const judged = triedTexts.map((text, index) => ({ text, score: scores[index] ?? 0 }))
        return { scores: judged.toSorted((a, b) => b.score - a.score) }
      }
    }
  }

  return {
    view: () => view(),
    put: (change: SearchChange) => view(settings.putSearch(change)),

    /** Asks what is set now; nothing is stored. */
    async try(what: TriedSearch, query: string): Promise<SearchTrial> {
      const begin = performance.now()
      const nothing = { pages: [], dimensions: null, scores: [] }
      const ms = () => Math.round(performance.now() - begin)
      try {
        const found = await tryOne(what, query, AbortSignal.timeout(tryMs))
        return { works: true, problem: null, ...nothing, ...found, ms: ms() }
      } catch (error) {
        return { works: false, problem: reasonOf(error), ...nothing, ms: ms() }
      }
    },
  }
}
