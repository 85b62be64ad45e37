import type { Infra } from '../infra/index.ts'
import type { Logger } from '../infra/logger.ts'
import type { Assistants } from '../services/assistants/index.ts'
import { createChangeFact } from '../services/memory/change-fact.ts'
import { createEmbedFacts } from '../services/memory/embed-facts.ts'
import { createEraseFact } from '../services/memory/erase-fact.ts'
import { createFindFacts } from '../services/memory/find-facts.ts'
import { createMemories } from '../services/memory/index.ts'
import { memoryTool } from '../services/memory/memory-tool.ts'
import { createReleaseFacts } from '../services/memory/release-facts.ts'
import { createStoreFact } from '../services/memory/store-fact.ts'
import { factStore } from '../services/memory/store.ts'
import { createMemorySweep } from '../services/memory/sweep.ts'
import type { ToolsDeps } from '../services/tools/index.ts'

/** Facts that assistants keep: for their owners (API), as a tool (runs), and what killed processes left (worker). */
export function composeMemory({ database, knowledge }: Infra, logger: Logger, assistants: Pick<Assistants, 'readOwn'>) {
  const { collections, transaction } = database
  const { vectors, embeddings: embedder } = knowledge
  const onError = (error: unknown) => logger.warn({ err: error }, 'facts could not be embedded, searched or removed')
  const shared = { collections, transaction, vectors, embedder, onError }
  const embedFacts = createEmbedFacts(shared)
  const eraseFact = createEraseFact(shared)
  const storeFact = createStoreFact({ ...shared, embedFacts })
  const findFacts = createFindFacts({ ...shared, embedFacts })
  const memory: ToolsDeps['memory'] = (assistant, options) =>
    memoryTool({ ...shared, findFacts, storeFact, eraseFact }, assistant, options)
  const changeFact = createChangeFact({ ...shared, assistants, storeFact })
  return {
    releaseFacts: createReleaseFacts({ store: factStore(collections), changeFact, eraseFact }),
    memories: createMemories({ ...shared, assistants, storeFact, eraseFact }),
    tool: memory,
    sweep: createMemorySweep({ ...shared, embedFacts, eraseFact }),
  }
}
