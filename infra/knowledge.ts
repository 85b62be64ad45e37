import type { Settings } from './config.ts'
import { createEmbedder } from './model/embeddings.ts'
import { createBlobStore } from './mongo/blob-store.ts'
import type { Database } from './mongo/connect.ts'
import { createVectorStore } from './vectors/index.ts'

/** Files, vectors and embeddings. Nothing connects before it is used. */
export function createKnowledge(settings: Settings, database: Pick<Database, 'connection'>) {
  const vectors = createVectorStore(settings)
  return {
    blobs: createBlobStore(database.connection),
    vectors,
    /** Undefined if no model is configured. */
    embedder:
      settings.openaiApiKey === undefined
        ? undefined
        : createEmbedder({
            apiKey: settings.openaiApiKey,
            baseUrl: settings.openaiBaseUrl,
            model: settings.embeddingModel,
            dimensions: settings.embeddingDimensions,
          }),
    close: () => vectors.close(),
  }
}
