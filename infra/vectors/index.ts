// Before a change: docs/traps.md, Upgrades.
import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import type { VectorStore } from '../../services/knowledge/vector-store.ts'
import type { Settings } from '../config.ts'
import { type BucketSettings, lanceBucket } from './lance-bucket.ts'

type VectorSettings = Pick<
  Settings,
  | 'vectorStore'
  | 'lancedbUri'
  | 'dataDir'
  | 'pineconeApiKey'
  | 'pineconeIndex'
  | 'pineconeHost'
  | 'qdrantUrl'
  | 'qdrantApiKey'
  | 'qdrantCollection'
> &
  BucketSettings

/** The vector store that the settings name. Its library is loaded, and it connects, when it is first used. */
export function createVectorStore(settings: VectorSettings, ownFetch: typeof fetch = fetch): VectorStore {
  switch (settings.vectorStore) {
    case 'lancedb': {
      const uri = settings.lancedbUri ?? join(settings.dataDir, 'lancedb')
      const bucket = lanceBucket(uri, settings, ownFetch)
      const load = async () => (await import('./lancedb.ts')).createLanceStore(uri, bucket)
      // A health check alone is no reason to load the library.
      return loadedWhenUsed('lancedb', load, uri.includes('://') ? undefined : () => usableFolder(uri))
    }
    case 'pinecone': {
      const { pineconeApiKey, pineconeIndex, pineconeHost } = settings
      if (pineconeApiKey === undefined || (pineconeIndex === undefined && pineconeHost === undefined)) {
        throw new Error('VECTOR_STORE is pinecone: set PINECONE_API_KEY, and PINECONE_INDEX or PINECONE_HOST')
      }
      const options = { apiKey: pineconeApiKey, index: pineconeIndex, host: pineconeHost }
      return loadedWhenUsed('pinecone', async () => (await import('./pinecone.ts')).createPineconeStore(options))
    }
    case 'qdrant': {
      const { qdrantUrl: url, qdrantApiKey: apiKey, qdrantCollection: collection } = settings
      if (url === undefined || !/^https?:/.test(url))
        throw new Error('VECTOR_STORE is qdrant: set QDRANT_URL, such as https://qdrant.example.com:6333')
      const options = { url, apiKey, collection }
      return loadedWhenUsed('qdrant', async () => (await import('./qdrant.ts')).createQdrantStore(options))
    }
  }
}

/** Loading a store's library takes a fifth of a second and tens of megabytes, and many processes never need it. */
function loadedWhenUsed(
  name: VectorStore['name'],
  load: () => Promise<VectorStore>,
  pingUnloaded?: () => Promise<void>,
): VectorStore {
  let loading: Promise<VectorStore> | undefined
  const store = () => (loading ??= load())
  return {
    name,
    ping: async () => (loading || !pingUnloaded ? (await store()).ping() : pingUnloaded()),
    upsert: async (...args) => (await store()).upsert(...args),
    search: async (...args) => (await store()).search(...args),
    count: async (...args) => (await store()).count(...args),
    deleteFile: async (...args) => (await store()).deleteFile(...args),
    deleteSpace: async (...args) => (await store()).deleteSpace(...args),
    spacesOf: async (...args) => (await store()).spacesOf(...args),
    listSpaces: async () => (await store()).listSpaces(),
    listFiles: async (...args) => (await store()).listFiles(...args),
    finalize: async (...args) => (await store()).finalize(...args),
    close: async () => (await loading)?.close(),
  }
}

async function usableFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true })
    await access(path, constants.R_OK | constants.W_OK)
  } catch (cause) {
    throw new AppError('unavailable', 'The vector store does not answer.', { cause })
  }
}
