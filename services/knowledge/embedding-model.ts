import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import type { VectorStore } from './vector-store.ts'

interface Deps {
  collections: Pick<Collections, 'assistants'>
  vectors: Pick<VectorStore, 'count'>
}

/**
 * Vectors of two models cannot be compared, so all vectors of an assistant are of one model: the one that its record
 * names. Records of earlier versions name none; they take the model that is used next. An assistant without vectors
 * takes another model.
 *
 * Throws `conflict` if the assistant has vectors of another model. Call it before the first vector of a file is
 * stored, and again before the file is shown: a worker with other settings may have changed the model in between.
 */
export async function requireEmbeddingModel(deps: Deps, assistantId: string, model: string): Promise<void> {
  const { assistants } = deps.collections
  for (;;) {
    const assistant = await assistants
      .findById(assistantId, { embedding_model: 1 })
      .lean<Pick<AssistantRecord, 'embedding_model'>>()
    // The deletion of an assistant interrupts its ingestions.
    if (assistant === null || assistant.embedding_model === model) return
    const { embedding_model: other } = assistant
    if (other !== undefined && (await deps.vectors.count(assistantId)) > 0) throw otherModel(other, model)
    await assistants.updateOne(
      { _id: assistantId, embedding_model: other ?? { $exists: false } },
      { $set: { embedding_model: model } },
    )
  }
}

/** Whether an assistant's vectors can be compared with those of this model. */
export function isOfModel(
  { embedding_model: known }: Pick<AssistantRecord, 'embedding_model'>,
  model: string,
): boolean {
  return known === undefined || known === model
}

function otherModel(known: string, model: string): AppError {
  return new AppError(
    'conflict',
    `The files of this assistant were embedded with ${known}, and the server now uses ${model} (EMBEDDING_MODEL, EMBEDDING_DIMENSIONS). Vectors of two models cannot be mixed: delete the assistant's files and upload them again.`,
  )
}
