import { AppError } from '../../domain/errors.ts'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import type { KnowledgeCollections } from './collections.ts'
import { countVectors } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

interface Deps {
  collections: Pick<Collections, 'assistants'> & Pick<KnowledgeCollections, 'files'>
  vectors: Pick<VectorStore, 'spacesOf' | 'count'>
}

const members = { embedding_model: 1, vector_generation: 1, last_generation: 1, reembedding: 1 } as const
type Members = Pick<AssistantRecord, '_id' | keyof typeof members>

/**
 * The generation of the space that takes an assistant's vectors of this model. Vectors of two models cannot be
 * compared, so all vectors of a space are of one model: that of the searched space is on the assistant's record.
 * Before the first vector it names none. An assistant without ready files and vectors takes another model, and a new
 * space for it.
 *
 * `reembedding`: the assistant's files are being embedded anew with this model, and new files wait until that has ended. Throws
 * `conflict` if the assistant has files of another model. Call it before the first vector of a file is stored, and
 * again when the file is shown: a worker with other settings may have changed the model in between.
 */
export async function requireEmbeddingModel(
  deps: Deps,
  assistantId: string,
  model: string,
): Promise<number | 'reembedding'> {
  const { assistants } = deps.collections
  for (;;) {
    const assistant = await assistants.findById(assistantId, members).lean<Members>()
    // The deletion of an assistant interrupts its ingestions.
    if (assistant === null) return 0
    const { embedding_model: known, vector_generation: generation = 0, reembedding } = assistant
    if (known === model) return generation
    if (reembedding?.model === model && reembedding.error === undefined) return 'reembedding'
    if (known !== undefined && (await hasKnowledge(deps, assistantId))) throw otherModel(known, model)
    // The first space may have vectors of another length.
    const next = known === undefined ? generation : lastGeneration(assistant) + 1
    await assistants.updateOne(
      { _id: assistantId, ...unchanged(assistant) },
      {
        $set: { embedding_model: model, vector_generation: next, last_generation: next },
        $unset: { reembedding: 1 },
      },
    )
  }
}

export function lastGeneration({ vector_generation: active = 0, last_generation: last = 0 }: Partial<Members>): number {
  return Math.max(active, last)
}

/** The condition that no other process has changed the model or begun to change it. */
export function unchanged({ embedding_model, last_generation }: Partial<Members>) {
  return {
    embedding_model: embedding_model ?? { $exists: false },
    last_generation: last_generation ?? { $exists: false },
  }
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
  const ready = { assistant_id: assistantId, status: 'ready', chunks: { $gt: 0 } } as const
  return (await collections.files.exists(ready)) !== null || (await countVectors(vectors, assistantId)) > 0
}

function otherModel(known: string, model: string): AppError {
  return new AppError(
    'conflict',
    `The files of this assistant were embedded with ${known}, and the server now uses ${model} (EMBEDDING_MODEL, EMBEDDING_DIMENSIONS). Vectors of two models cannot be mixed: have its files embedded anew (POST /assistants/{aid}/reembedding), then retry this file.`,
  )
}
