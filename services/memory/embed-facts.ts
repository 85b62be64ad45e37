import { createHash } from 'node:crypto'
import { type MemoryScope, memorySpace, memorySpaces } from '../../domain/memory/memory-scope.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { chunkId } from '../../domain/records/chunk-group.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { Collections } from '../collections.ts'
import type { Embedder } from '../knowledge/embedder.ts'
import { deleteVectorsOfFile } from '../knowledge/vector-spaces.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'
import { factStore } from './store.ts'

interface EmbedFactsDeps {
  collections: Pick<Collections, 'memories'>
  vectors: Pick<VectorStore, 'upsert' | 'finalize' | 'spacesOf' | 'deleteFile'>
  /** Undefined if no model is configured: facts are found by their words. */
  embedder: Embedder | undefined
}

/** A text that changes while it is embedded is embedded again; a worker takes what changes all the time. */
const maxRounds = 3

export const scopeOf = ({ user_id, project_id, assistant_id, caller }: MemoryRecord): MemoryScope => {
  if (assistant_id !== undefined)
    return caller === undefined ? { kind: 'assistant', id: assistant_id } : { kind: 'caller', id: assistant_id, caller }
  return project_id === undefined ? { kind: 'user', id: user_id } : { kind: 'project', id: project_id }
}

/** The space of a scope for the vectors of this model. */
export function spaceOf(scope: MemoryScope, model: string): string {
  const number = Number.parseInt(createHash('sha256').update(model).digest('hex').slice(0, 8), 16)
  return memorySpace(scope, number + 1)
}

export type EmbedFacts = ReturnType<typeof createEmbedFacts>

/**
 * Embeds facts and stores their vectors, whose `fileId` is the fact's id. A fact that is deleted meanwhile loses its
 * vector again. Safe to repeat: the record says whether its current text has a vector. Throws `ModelFailure`, and
 * `unavailable` of the vector store.
 */
export function createEmbedFacts({ collections, vectors, embedder }: EmbedFactsDeps) {
  const store = factStore(collections)

  return async function embedFacts(facts: MemoryRecord[], signal?: AbortSignal): Promise<void> {
    if (embedder === undefined) return
    let left = facts
    for (let round = 0; left.length > 0 && round < maxRounds; round++) {
      const embedded = await vectorsOf(embedder, left, signal)
      await storeVectors(embedder.model, embedded)
      const changed: MemoryRecord[] = []
      for (const { fact } of embedded) {
        const now = await note(fact, { embedded_with: embedder.model })
        if (now !== undefined) changed.push(now)
      }
      left = changed
    }
  }

  async function vectorsOf({ model, embed }: Embedder, facts: MemoryRecord[], signal?: AbortSignal) {
    const texts = facts.map(({ text }) => text)
    const found = await embed(texts, signal).catch(async (error: unknown) => {
      if (!isRefusal(error)) throw error
      // One text that the model refuses does not keep the others from their vectors.
      if (facts.length > 1) return Promise.all(texts.map((text) => embedOne(embed, text, signal)))
      return [undefined]
    })
    for (const [index, fact] of facts.entries()) if (found[index] === undefined) await note(fact, { refused_by: model })
    return facts.flatMap((fact, index) => {
      const vector = found[index]
      return vector === undefined ? [] : [{ fact, vector }]
    })
  }

  async function storeVectors(model: string, embedded: { fact: MemoryRecord; vector: number[] }[]): Promise<void> {
    for (const [space, those] of Map.groupBy(embedded, ({ fact }) => spaceOf(scopeOf(fact), model))) {
      const records = those.map(({ fact: { _id, text }, vector }) => ({
        id: chunkId(_id, 0),
        fileId: _id,
        position: 0,
        text,
        vector,
      }))
      await vectors.upsert(space, records)
      for (const { fileId } of records.slice(-1)) await vectors.finalize(space, fileId, 1)
    }
  }

  /** Notes the outcome on the record. Returns it as it is now if its text or scope has changed since. */
  async function note(fact: MemoryRecord, $set: Partial<MemoryRecord>): Promise<MemoryRecord | undefined> {
    if (await store.note(fact, $set)) return undefined
    const now = await store.rereadOfAny(fact)
    if (now === null || now.scope !== fact.scope)
      await deleteVectorsOfFile(vectors, memorySpaces(scopeOf(fact)), fact._id)
    return now ?? undefined
  }
}

async function embedOne(embed: Embedder['embed'], text: string, signal?: AbortSignal): Promise<number[] | undefined> {
  try {
    return (await embed([text], signal))[0]
  } catch (error) {
    if (isRefusal(error)) return undefined
    throw error
  }
}

/** Of the text. Wrong keys and the like concern every text, and are mended. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof ModelFailure &&
    (error.type === 'model_refused_request' || error.type === 'context_length_exceeded')
  )
}
