import { join } from 'node:path'
import type { VectorStore } from '../../services/knowledge/vector-store.ts'
import type { Settings } from '../config.ts'
import { createLanceStore } from './lancedb.ts'
import { createPineconeStore } from './pinecone.ts'

type VectorSettings = Pick<
  Settings,
  'vectorStore' | 'lancedbUri' | 'dataDir' | 'pineconeApiKey' | 'pineconeIndex' | 'pineconeHost'
>

/** The vector store that the settings name. Connects when it is first used. */
export function createVectorStore(settings: VectorSettings): VectorStore {
  switch (settings.vectorStore) {
    case 'lancedb':
      return createLanceStore(settings.lancedbUri ?? join(settings.dataDir, 'lancedb'))
    case 'pinecone': {
      const { pineconeApiKey, pineconeIndex, pineconeHost } = settings
      if (pineconeApiKey === undefined || (pineconeIndex === undefined && pineconeHost === undefined)) {
        throw new Error('VECTOR_STORE is pinecone: set PINECONE_API_KEY, and PINECONE_INDEX or PINECONE_HOST')
      }
      return createPineconeStore({ apiKey: pineconeApiKey, index: pineconeIndex, host: pineconeHost })
    }
  }
}
