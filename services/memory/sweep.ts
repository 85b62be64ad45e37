import { memorySpaces } from '../../domain/memory/memory-scope.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { Collections } from '../collections.ts'
import type { Embedder } from '../knowledge/embedder.ts'
import { deleteSpaces } from '../knowledge/vector-spaces.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'
import { type EmbedFacts, scopeOf, spaceOf } from './embed-facts.ts'
import type { EraseFact } from './erase-fact.ts'
import { factStore } from './store.ts'

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
  const store = factStore(collections)

  return async (clock: () => number = Date.now): Promise<void> => {
    try {
      await erase(new Date(clock()))
    } finally {
      await embed(new Date(clock() - youngMs))
    }
  }

  async function erase(now: Date): Promise<void> {
    await store.hideExpiredOfAny(now, perRound)
    for (const fact of await store.hiddenOfAny(perRound)) await eraseFact(fact)
  }

  async function embed(before: Date): Promise<void> {
    if (embedder === undefined) return
    for (let done = 0; done < perRound; done += embeddedAtOnce) {
      const facts = await store.lackingOfAny(embedder.model, before, embeddedAtOnce)
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
    if (await store.hasLacking(sharing, model)) return
    await deleteSpaces(vectors, memorySpaces(own), spaceOf(own, model))
  }
}
