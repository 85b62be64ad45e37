import type { Settings } from './config.ts'
import { createEmbedder } from './model/embeddings.ts'
import { createBlobStore } from './mongo/blob-store.ts'
import type { Database } from './mongo/connect.ts'
import { createVectorStore } from './vectors/index.ts'

/** Files, vectors and embeddings. Nothing connects before it is used. `ownFetch` reaches the embedding server. */
export function createKnowledge(
  settings: Settings,
  { connection }: Pick<Database, 'connection'>,
  ownFetch: typeof fetch,
) {
  const vectors = createVectorStore(settings)
  const { apiKey, ...embedding } = settings.embedding
  return {
    blobs: createBlobStore(connection),
    vectors,
    /** Undefined if no model is configured. */
    embedder: apiKey === undefined ? undefined : createEmbedder({ ...embedding, apiKey, fetch: ownFetch }),
    close: () => vectors.close(),
  }
}
