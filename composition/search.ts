import { noKey } from '../domain/model-catalog.ts'
import type { ModelSettings } from '../services/models/model-settings.ts'
import { type KnowledgeServer, createSearchOperation } from '../services/search/index.ts'
import type { Core } from './core.ts'

/** What operators see and try of the web search, and of the servers that search in files. */
export function composeSearch(
  { settings, infra, models }: Pick<Core, 'settings' | 'infra' | 'models'>,
  modelSettings: Pick<ModelSettings, 'searchView' | 'putSearch'>,
) {
  const { embedder, reranker } = infra.knowledge
  return createSearchOperation({
    settings: modelSettings,
    account: () => models.current().search,
    knowledge: { embedding: embeddingView(settings, infra), reranking: rerankingView(settings) },
    embed:
      embedder === undefined || embedder.isWordsOnly ? undefined : (texts, signal) => embedder.embed(texts, signal),
    rerank: reranker?.ask,
    fetch: infra.outbound.ownFetch,
  })
}

function embeddingView({ embedding }: Core['settings'], { knowledge: { embedder } }: Core['infra']) {
  const { baseUrl = null, apiKey, builtIn, model, dimensions } = embedding
  const nothing = { base_url: null, model: null, dimensions: null, key: 'none' as const }
  if (embedder?.isWordsOnly) return { kind: 'words' as const, ...nothing }
  if (embedder === undefined) return { kind: 'none' as const, ...nothing }
  if (builtIn !== undefined) return { kind: 'built_in' as const, ...nothing, model: embedder.model }
  const key = apiKey === undefined || apiKey === noKey ? ('none' as const) : ('set' as const)
  return { kind: 'server' as const, base_url: baseUrl, model, dimensions, key }
}

function rerankingView({ rerankBaseUrl, rerankApiKey, rerankModel }: Core['settings']): KnowledgeServer {
  if (rerankBaseUrl === undefined) return { kind: 'none', base_url: null, model: null, key: 'none' }
  const key = rerankApiKey === undefined ? 'none' : 'set'
  return { kind: 'server', base_url: rerankBaseUrl, model: rerankModel ?? null, key }
}
