import { createExtractor } from '../infra/extract/extractor.ts'
import { ingestionWorkflows } from '../infra/temporal/ingestion-workflows.ts'
import { createFiles } from '../services/knowledge/files.ts'
import { createRetries } from '../services/knowledge/retries.ts'
import { createUploads } from '../services/knowledge/uploads.ts'
import type { Core } from './core.ts'

/** Files that assistants can quote. `extraction` starts no process before a file is read. */
export function composeKnowledge({ settings, infra, collections, assistantConfigs }: Core) {
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
    files: createFiles({ collections, workflows }),
    extraction: createExtractor({
      memoryMb: settings.extractMemoryMb,
      timeoutSeconds: settings.extractTimeoutSeconds,
      concurrency: settings.extractConcurrency,
    }),
  }
}
