import { embeddingSlots, readingSlots, reembeddingSlots, scanSlots } from '../domain/knowledge/slots.ts'
import { createExtractor } from '../infra/extract/extractor.ts'
import { checkLanguages } from '../infra/extract/ocr/languages.ts'
import type { Ocr } from '../infra/extract/ocr/scan.ts'
import { createEvaluation } from '../services/knowledge/evaluation.ts'
import { createPassages } from '../services/knowledge/passages.ts'
import { createRecognition } from '../services/knowledge/recognition.ts'
import { createReembedding } from '../services/knowledge/reembedding.ts'
import { createRetries } from '../services/knowledge/retries.ts'
import { createStartIngestion } from '../services/knowledge/start-ingestion.ts'
import { createUploads } from '../services/knowledge/uploads.ts'
import { createSemaphore } from '../services/semaphore.ts'
import type { Core } from './core.ts'

/** Files of assistants and their search. `ingestion` starts no process before a file is read. */
export function composeKnowledge(core: Core) {
  const { settings, infra, collections, transaction, assistantConfigs, workflows, logger, storageQuota } = core
  const { blobs, vectors, embedder, reranker } = infra.knowledge
  const startIngestion = createStartIngestion({ workflows })
  const passages = createPassages({ collections, vectors, embedder, reranker })
  const uploads = createUploads({
    collections,
    assistantConfigs,
    blobs,
    vectors,
    startIngestion,
    canEmbed: embedder !== undefined,
    storageQuota,
  })
  return {
    startIngestion,
    uploads,
    retries: createRetries({ collections, startIngestion, admit: uploads.admit }),
    reembedding: createReembedding({
      collections,
      vectors,
      workflows,
      model: embedder?.model,
    }),
    passages,
    evaluation: createEvaluation({ collections, transaction, passages, model: embedder?.model }),
    files: core.files,
    ingestion: {
      transaction,
      workUsage: core.workUsage,
      workflows,
      extraction: createExtractor({
        memoryMb: settings.extractMemoryMb,
        cpuSeconds: settings.extractCpuSeconds,
        timeoutSeconds: settings.extractTimeoutSeconds,
        idleReaders: settings.extractConcurrency,
        ocr: ocrOf(settings),
        readsHidden: settings.extractHidden,
        onConfinement: (confinement) => logger.info({ confinement }, 'readers of files are confined'),
      }),
      readingSlots: createSemaphore(readingSlots(settings.extractConcurrency)),
      scanSlots: createSemaphore(scanSlots(settings.extractConcurrency)),
      recognition: createRecognition({
        collections,
        secondsPerDay: settings.ocrUserMinutes * 60,
        onError: (error) => logger.error({ err: error }, 'the time of reading pictures was not counted'),
      }),
      embeddingSlots: createSemaphore(embeddingSlots),
      reembeddingSlots: createSemaphore(reembeddingSlots),
    },
  }
}

/** How pictures are read. Throws if the data of a language is not installed. */
function ocrOf({ ocrLanguages: languages, ocrMaxPages: maxPages }: Core['settings']): Ocr | undefined {
  if (languages.includes('off')) return undefined
  checkLanguages(languages)
  return { languages, maxPages }
}
