import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import type { Tool } from '../tools/tool.ts'
import type { BlobStore } from './blob-store.ts'
import type { Embedder } from './embedder.ts'
import { createFiles } from './files.ts'
import type { IngestionWorkflows } from './ingestion-workflows.ts'
import { createRetrievalTool } from './retrieval-tool.ts'
import { createUploads } from './uploads.ts'
import type { VectorStore } from './vector-store.ts'

/** The stores of the knowledge base, as the process entries make them. */
export interface KnowledgePorts {
  blobs: BlobStore
  vectors: VectorStore
  /** Undefined when no model is configured. */
  embedder: Embedder | undefined
}

/** The retrieval tool of an assistant, in the shape that `createTools` asks for. */
export function createRetrieval(collections: Collections, { vectors, embedder }: KnowledgePorts) {
  return async (assistant: AssistantRecord, name: string): Promise<Tool | undefined> =>
    embedder && createRetrievalTool({ collections, vectors, embedder }, assistant, name)
}

export function wireKnowledge(ports: {
  collections: Collections
  knowledge: KnowledgePorts
  ingestionWorkflows: IngestionWorkflows
}) {
  const { collections, knowledge, ingestionWorkflows: workflows } = ports
  const { blobs, vectors, embedder } = knowledge
  return {
    uploads: createUploads({ collections, blobs, vectors, workflows, canEmbed: embedder !== undefined }),
    files: createFiles({ collections, workflows }),
  }
}
