import { crawlSlots } from '../domain/knowledge/slots.ts'
import { createWeb } from '../infra/web/web.ts'
import { createSemaphore } from '../services/semaphore.ts'
import { createSources } from '../services/sources/index.ts'
import { createSourceSweep } from '../services/sources/sync-sources.ts'
import type { Core } from './core.ts'
import type { composeKnowledge } from './knowledge.ts'

/** Sources of the web: as their owners see them (API), and their crawls (worker). */
export function composeSources(core: Core, knowledge: ReturnType<typeof composeKnowledge>) {
  const { collections, transaction, workflows, infra, settings, refreshes, sourceSync } = core
  return {
    sources: createSources({
      collections,
      transaction,
      workflows,
      outbound: infra.outbound,
      uploads: knowledge.uploads,
      settings,
      deletionWaitMs: settings.deletionWaitSeconds * 1000,
      ...sourceSync,
    }),
    sweep: createSourceSweep({ collections, ...sourceSync }),
    activities: {
      collections,
      transaction,
      workflows,
      refreshes,
      blobs: infra.knowledge.blobs,
      vectors: infra.knowledge.vectors,
      storageQuota: core.storageQuota,
      workUsage: core.workUsage,
      startIngestion: knowledge.startIngestion,
      pages: knowledge.ingestion.extraction,
      crawlSlots: createSemaphore(crawlSlots),
      web: createWeb({
        outbound: infra.outbound,
        contactUrl: settings.frontendUrl,
        pauseMs: settings.crawlPauseMs,
      }),
    },
  }
}
