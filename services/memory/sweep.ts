import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { Collections } from '../collections.ts'
import type { Embedder } from '../knowledge/embedder.ts'
import { memorySpaces } from '../../domain/memory/memory-scope.ts'
import { deleteSpaces } from '../knowledge/vector-spaces.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'
import { type EmbedFacts, lacksVector, scopeOf, spaceOf } from './embed-facts.ts'
import { type EraseFact, tombstone } from './erase-fact.ts'

interface MemorySweepDeps {
  collections: Pick<Collections, 'memories'>
  vectors: Pick<VectorStore, 'spacesOf' | 'deleteSpace'>
  embedder: Embedder | undefined
  embedFacts: EmbedFacts
  eraseFact: EraseFact
}

const embeddedAtOnce = 64
const perRound = 640
/** Requests that save a fact embed it themselves. */
const youngMs = 30_000

/**
 * One round of what processes that died have left: facts without vector, and facts that were being deleted. It also
 * deletes facts of callers whose time is over, and embeds all facts anew after a change of the model.
 */
export function createMemorySweep({ collections, vectors, embedder, embedFacts, eraseFact }: MemorySweepDeps) {
  const { memories } = collections

  return async (clock: () => number = Date.now): Promise<void> => {
    try {
      await erase(new Date(clock()))
    } finally {
      await embed(new Date(clock() - youngMs))
    }
  }

  async function erase(now: Date): Promise<void> {
    const expired = await memories
      .find({ expires_at: { $lt: now } }, { _id: 1 })
      .limit(perRound)
      .lean()
    for (const { _id } of expired)
      // It may have been saved again.
      await memories.updateOne({ _id, expires_at: { $lt: now } }, tombstone(_id))
    for (const fact of await memories.find({ deleting: true }).limit(perRound).lean<MemoryRecord[]>())
      await eraseFact(fact)
  }

  async function embed(before: Date): Promise<void> {
    if (embedder === undefined) return
    const lacking = { ...lacksVector(embedder.model), deleting: { $ne: true }, updated_at: { $lt: before } } as const
    for (let done = 0; done < perRound; done += embeddedAtOnce) {
      const facts = await memories.find(lacking).limit(embeddedAtOnce).lean<MemoryRecord[]>()
      if (facts.length === 0) return
      await embedFacts(facts)
      for (const [scope, [fact]] of Map.groupBy(facts, ({ scope }) => scope))
        if (fact?.embedded_with !== undefined) await removeEarlierSpaces(scope, fact, embedder.model)
    }
  }

  /** After a change of the model, when all facts of the scope have their new vectors. */
  async function removeEarlierSpaces(scope: string, fact: MemoryRecord, model: string): Promise<void> {
    const own = scopeOf(fact)
    // The callers of an assistant share its spaces.
    const sharing =
      own.kind === 'caller'
        ? { assistant_id: own.id, caller: { $exists: true } }
        : { scope, caller: { $exists: false } }
    if ((await memories.exists({ ...sharing, ...lacksVector(model), deleting: { $ne: true } })) !== null) return
    await deleteSpaces(vectors, memorySpaces(own), spaceOf(own, model))
  }
}
