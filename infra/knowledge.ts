import type { Embedder } from '../services/knowledge/embedder.ts'
import type { EmbeddingServer } from '../services/v1/embeddings.ts'
import { createBuiltInEmbedder, wordsOnlyEmbedder } from './built-in-model/embedder.ts'
import type { Settings } from './config.ts'
import { createEmbedder } from './model/embeddings.ts'
import { createReranker } from './model/reranker.ts'
import { createBlobStore } from './mongo/blob-store.ts'
import type { Database } from './mongo/connect.ts'
import { createObjectStore } from './objects/index.ts'
import { createObjectLocation } from './objects/object-location.ts'
import { createVectorStore } from './vectors/index.ts'

/**
 * Files, vectors and embeddings. Nothing connects before it is used. `ownFetch` reaches the embedding server and the
 * object store.
 */
export function createKnowledge(
  settings: Settings,
  { connection }: Pick<Database, 'connection'>,
  ownFetch: typeof fetch,
  onRerankError: (error: unknown) => void = () => undefined,
) {
  const vectors = createVectorStore(settings, ownFetch)
  const objects = createObjectStore(settings, ownFetch)
  const { rerankBaseUrl } = settings
  const server = createServer(settings, ownFetch)
  const wordsOnly = settings.embedding.builtIn === 'words' && vectors.name === 'lancedb' ? wordsOnlyEmbedder : undefined
  const embedder: Embedder | undefined = server ?? wordsOnly
  return {
    /** Undefined if none is configured. */
    objects,
    blobs: createBlobStore(connection, objects && createObjectLocation(objects)),
    vectors,
    /** Undefined if files cannot be searched, because no model is configured. */
    embedder,
    /** Undefined if there is no model. */
    embeddings: server,
    /** Undefined if none is configured. */
    reranker:
      rerankBaseUrl === undefined
        ? undefined
        : createReranker({
            baseUrl: rerankBaseUrl,
            apiKey: settings.rerankApiKey,
            model: settings.rerankModel,
            fetch: ownFetch,
            onError: onRerankError,
          }),
    close: async () => {
      await vectors.close()
      await server?.close?.()
    },
  }
}

type Server = Embedder & EmbeddingServer & { close?(): Promise<void> }

function createServer({ embedding }: Settings, ownFetch: typeof fetch): Server | undefined {
  const { apiKey, builtIn, ...named } = embedding
  if (builtIn === 'words') return undefined
  if (builtIn !== undefined) return createBuiltInEmbedder(builtIn)
  return apiKey === undefined ? undefined : createEmbedder({ ...named, apiKey, fetch: ownFetch })
}
