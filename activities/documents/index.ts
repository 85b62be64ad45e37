import { activityInfo, cancellationSignal } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import type { EmbedStepResult, FileDeletionInput, FileStepInput } from '../../domain/contracts/ingestion.ts'
import { AppError } from '../../domain/errors.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { type KnowledgeStores, deleteFileKnowledge } from '../../services/knowledge/delete-knowledge.ts'
import { type EmbedFileDeps, embedFile } from '../../services/knowledge/embed-file.ts'
import { type ExtractFileDeps, extractFile, markFailed } from '../../services/knowledge/extract-file.ts'
import { durable } from '../durable.ts'

export type DocumentActivityDeps = ExtractFileDeps &
  KnowledgeStores &
  Omit<EmbedFileDeps, 'embedder'> & {
    /** Undefined when no embedding model is configured. */
    embedder: EmbedFileDeps['embedder'] | undefined
  }

/** The steps of an ingestion. Each can be repeated and goes on where it stopped. */
export function createDocumentActivities(deps: DocumentActivityDeps) {
  return {
    extractFile: step((input: FileStepInput) => extractFile(deps, input.fileId, cancellationSignal())),

    embedFile: step(async (input: FileStepInput): Promise<EmbedStepResult> => {
      const { embedder } = deps
      if (!embedder) throw new AppError('unavailable', 'No embedding model is configured on this server.')
      return embedFile({ ...deps, embedder }, input, cancellationSignal())
    }),

    /** For a step that gave up. The reason is one that the file's owner may read. */
    failFile: step((input: FileStepInput & { reason: string }) =>
      markFailed(deps.collections, input.fileId, input.reason),
    ),

    deleteFile: step(async (input: FileDeletionInput) => {
      const isGone = await deleteFileKnowledge(deps, input)
      if (!isGone) throw new AppError('unavailable', 'Parts of the file are still there.')
    }),
  }
}

const step = <Input, Output>(work: (input: Input) => Promise<Output>) => durable(work, asFailure)

/** The embedding server says itself how long to wait; without a word the waiting grows with each attempt. */
function asFailure(error: unknown): unknown {
  if (!(error instanceof ModelFailure)) return error
  const wait = error.retryAfterMs ?? Math.min(60_000, 500 * 2 ** activityInfo().attempt)
  return ApplicationFailure.create({
    message: error.message,
    type: error.type,
    nonRetryable: !error.retryable,
    details: [error.statusCode],
    nextRetryDelay: wait,
  })
}
