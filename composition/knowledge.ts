import { embeddingSlots, readingSlots } from '../domain/knowledge/slots.ts'
import { createExtractor } from '../infra/extract/extractor.ts'
import { ingestionWorkflows } from '../infra/temporal/ingestion-workflows.ts'
import { createFiles } from '../services/knowledge/files.ts'
import { createPassages } from '../services/knowledge/passages.ts'
import { createRetries } from '../services/knowledge/retries.ts'
import { createUploads } from '../services/knowledge/uploads.ts'
import { createSemaphore } from '../services/semaphore.ts'
import type { Core } from './core.ts'

/** Files that assistants can quote. `ingestion` starts no process before a file is read. */
export function composeKnowledge({ settings, infra, collections, assistantConfigs, logger }: Core) {
  const { blobs, vectors, embedder } = infra.knowledge
  const workflows = ingestionWorkflows(infra.temporal.client, settings)
  const uploads = createUploads({
    collections,
    assistantConfigs,
    blobs,
    vectors,
    workflows,
    canEmbed: embedder !== undefined,
  })
  return {
    uploads,
    retries: createRetries({ collections, workflows, admit: uploads.admit }),
    passages: createPassages({ collections, vectors, embedder }),
    files: createFiles({ collections, workflows }),
    ingestion: {
      ingestions: workflows,
      extraction: createExtractor({
        memoryMb: settings.extractMemoryMb,
        cpuSeconds: settings.extractCpuSeconds,
        timeoutSeconds: settings.extractTimeoutSeconds,
        keptReaders: settings.extractConcurrency,
        onConfinement: (confinement) => logger.info({ confinement }, 'the processes that read files are confined'),
      }),
      readingSlots: createSemaphore(readingSlots(settings.extractConcurrency)),
      embeddingSlots: createSemaphore(embeddingSlots),
    },
  }
}
