import type { FileStepInput } from '../../domain/contracts/ingestion.ts'
import type { ReembeddingInput } from '../../domain/contracts/reembedding.ts'
import type { Metrics } from './create-metrics.ts'
import { timed } from './observe-runs.ts'

interface Stages {
  extractFile(input: FileStepInput): Promise<unknown>
  embedFile(input: FileStepInput): Promise<unknown>
  reembedFiles(input: ReembeddingInput): Promise<unknown>
}

/** The activities of an ingestion, with each execution of a stage measured. */
export function observeIngestion(activities: Stages, { ingestionSeconds }: Pick<Metrics, 'ingestionSeconds'>): object {
  const { extractFile, embedFile, reembedFiles } = activities
  return {
    ...activities,
    extractFile: (input: FileStepInput) => timed(ingestionSeconds, { stage: 'extract' }, () => extractFile(input)),
    embedFile: (input: FileStepInput) => timed(ingestionSeconds, { stage: 'embed' }, () => embedFile(input)),
    reembedFiles: (input: ReembeddingInput) => timed(ingestionSeconds, { stage: 'reembed' }, () => reembedFiles(input)),
  }
}
