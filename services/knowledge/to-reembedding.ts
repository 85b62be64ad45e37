import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { KnowledgeCollections } from './collections.ts'
import { isOfModel, searchedSpace } from './embedding-model.ts'
import { reembeddedFileStore } from './store.ts'
import type { VectorStore } from './vector-store.ts'

/**
 * `outdated`: files were embedded with another model than the server uses now, or vectors are missing in the store.
 * `failed`: embedding them anew was given up, see `error`.
 */
export const reembeddingStatuses = ['current', 'outdated', 'running', 'failed'] as const
export type ReembeddingStatus = (typeof reembeddingStatuses)[number]

export interface ReembeddingView {
  status: ReembeddingStatus
  /** The model of the vectors that are searched. */
  model?: string
  /** The model that the server uses now. */
  configured_model: string
  /** Ready files and their chunks, and how many of them have vectors of the configured model. */
  files: number
  files_done: number
  chunks: number
  chunks_done: number
  started_at?: Date
  error?: string
}

interface ViewDeps {
  collections: Pick<KnowledgeCollections, 'files'>
  vectors: Pick<VectorStore, 'count'>
}

export async function toReembedding(
  { collections, vectors }: ViewDeps,
  assistant: AssistantRecord,
  configured: string,
): Promise<ReembeddingView> {
  const { reembedding, embedding_model: known } = assistant
  const { progress: progressOf } = reembeddedFileStore(collections)
  const common = { ...(known === undefined ? {} : { model: known }), configured_model: configured }
  if (reembedding?.model === configured) {
    const { generation, started_at, error } = reembedding
    const status = error === undefined ? 'running' : 'failed'
    const progress = await progressOf(assistant._id, generation)
    return { status, ...common, ...progress, started_at, ...(error === undefined ? {} : { error }) }
  }
  const progress = await progressOf(assistant._id, undefined)
  const isCurrent = isOfModel(assistant, configured) && (await hasVectors(vectors, assistant, progress.chunks))
  const done = isCurrent ? { files_done: progress.files, chunks_done: progress.chunks } : {}
  const status = progress.files === 0 || isCurrent ? 'current' : 'outdated'
  return { status, ...common, ...progress, ...done }
}

/** False after the operator named another collection, for example, or lost the store's data. */
async function hasVectors(
  vectors: ViewDeps['vectors'],
  assistant: AssistantRecord,
  expected: number,
): Promise<boolean> {
  return expected === 0 || (await vectors.count(searchedSpace(assistant))) >= expected
}
