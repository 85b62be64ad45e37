import type { Settings } from './config.ts'
import { createEmbedder } from './model/embeddings.ts'
import { createBlobStore } from './mongo/blob-store.ts'
import type { Database } from './mongo/connect.ts'
import { createObjectStore } from './objects/index.ts'
import { createObjectPlace } from './objects/object-place.ts'
import { createVectorStore } from './vectors/index.ts'

/** Files, vectors and embeddings. Nothing connects before it is used. `ownFetch` reaches the embedding server and the object store. */
export function createKnowledge(
  settings: Settings,
  { connection }: Pick<Database, 'connection'>,
  ownFetch: typeof fetch,
) {
  const vectors = createVectorStore(settings, ownFetch)
  const objects = createObjectStore(settings, ownFetch)
  const { apiKey, ...embedding } = settings.embedding
  return {
    /** Undefined if none is configured. */
    objects,
    blobs: createBlobStore(connection, {
      objects: objects && createObjectPlace(objects),
      writeTo: settings.blobsWriteTo,
    }),
    vectors,
    /** Undefined if no model is configured. */
    embedder: apiKey === undefined ? undefined : createEmbedder({ ...embedding, apiKey, fetch: ownFetch }),
    close: () => vectors.close(),
  }
}
