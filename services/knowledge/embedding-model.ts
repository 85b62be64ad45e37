import { AppError } from '../../domain/errors.ts'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { fileStore } from '../stores/files.ts'
import { spaceStore } from '../stores/vector-stores.ts'
import type { KnowledgeCollections } from './collections.ts'
import { countVectors } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

interface Deps {
  collections: Pick<Collections, 'assistants'> & Pick<KnowledgeCollections, 'files'>
  vectors: Pick<VectorStore, 'spacesOf' | 'count'>
}

/**
 * The generation of the space that takes an assistant's vectors of this model. Vectors of two models cannot be
 * compared, so all vectors of a space are of one model: that of the searched space is on the assistant's record.
 * Before the first vector it names none. An assistant without ready files and vectors takes another model, and a new
 * space for it.
 *
 * `reembedding`: the assistant's files are being embedded anew with this model, and new files wait until that has
 * ended. Throws `conflict` if the assistant has files of another model. Call it before the first vector of a file is
 * stored, and again when the file is shown: a worker with other settings may have changed the model in between.
 */
export async function requireEmbeddingModel(
  deps: Deps,
  assistantId: string,
  model: string,
): Promise<number | 'reembedding'> {
  const spaces = spaceStore(deps.collections)
  for (;;) {
    const assistant = await spaces.find(assistantId)
    // The deletion of an assistant interrupts its ingestions.
    if (assistant === null) return 0
    const { embedding_model: known, vector_generation: generation = 0, reembedding } = assistant
    if (known === model) return generation
    if (reembedding?.model === model && reembedding.error === undefined) return 'reembedding'
    if (known !== undefined && (await hasKnowledge(deps, assistantId))) throw otherModel(known, model)
    // The first space may have vectors of another length.
    const next = known === undefined ? generation : lastGeneration(assistant) + 1
    await spaces.takeModel(assistant, model, next)
  }
}

export function lastGeneration({
  vector_generation: active = 0,
  last_generation: last = 0,
}: Partial<Pick<AssistantRecord, 'vector_generation' | 'last_generation'>>): number {
  return Math.max(active, last)
}

/** Whether an assistant's vectors can be compared with those of this model. */
export function isOfModel(
  { embedding_model: known }: Pick<AssistantRecord, 'embedding_model'>,
  model: string,
): boolean {
  return known === undefined || known === model
}

/** The space that is searched. */
export function searchedSpace({ _id, vector_generation }: Pick<AssistantRecord, '_id' | 'vector_generation'>): string {
  return vectorSpace(_id, vector_generation)
}

async function hasKnowledge({ collections, vectors }: Deps, assistantId: string): Promise<boolean> {
  return (await fileStore(collections).hasReady(assistantId)) || (await countVectors(vectors, assistantId)) > 0
}

function otherModel(known: string, model: string): AppError {
  return new AppError(
    'conflict',
    `The files of this assistant were embedded with ${known}, and the server now uses ${model} (EMBEDDING_MODEL, EMBEDDING_DIMENSIONS). Vectors of two models cannot be mixed: have its files embedded anew (POST /assistants/{aid}/reembedding), then retry this file.`,
  )
}
