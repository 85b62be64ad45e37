import { activityInfo, cancellationSignal } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { backOffMs } from '../../domain/back-off.ts'
import type { FileDeletionInput } from '../../domain/contracts/file-deletion.ts'
import { type EmbedStepResult, type FileStepInput, readerFailedType } from '../../domain/contracts/ingestion.ts'
import type { ReembedStepResult, ReembeddingInput } from '../../domain/contracts/reembedding.ts'
import { AppError } from '../../domain/errors.ts'
import { isUnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { type DeleteFileDeps, deleteFile } from '../../services/knowledge/delete-file.ts'
import { type EmbedFileDeps, embedFile } from '../../services/knowledge/embed-file.ts'
import { noEmbeddingModel } from '../../services/knowledge/embedder.ts'
import { type ExtractFileDeps, extractFile } from '../../services/knowledge/extract-file.ts'
import { type ReembedFilesDeps, reembedFiles } from '../../services/knowledge/reembed-files.ts'
import { giveUpReembedding } from '../../services/knowledge/reembedding.ts'
import { ingestedFileStore } from '../../services/knowledge/store.ts'
import { fileStore } from '../../services/stores/files.ts'
import { durable } from '../durable.ts'

export type DocumentActivityDeps = ExtractFileDeps &
  DeleteFileDeps &
  Omit<EmbedFileDeps & ReembedFilesDeps, 'embedder'> & {
    /** Undefined if no embedding model is configured. */
    embedder: EmbedFileDeps['embedder'] | undefined
    /** Whether an error means that a server which the service needs is unreachable. */
    isUnavailable: (error: unknown) => boolean
  }

/** The steps of ingestions and re-embeddings. Each can be repeated and continues where it stopped. */
export function createDocumentActivities(deps: DocumentActivityDeps) {
  const step = <Input, Output>(work: (input: Input) => Promise<Output>) =>
    durable(work, (error) => asFailure(error, deps.isUnavailable))

  function requireEmbedder(): EmbedFileDeps['embedder'] {
    if (deps.embedder !== undefined) return deps.embedder
    throw noEmbeddingModel()
  }

  return {
    extractFile: step((input: FileStepInput) => extractFile(deps, input.fileId, cancellationSignal())),

    embedFile: step(async (input: FileStepInput): Promise<EmbedStepResult> =>
      embedFile({ ...deps, embedder: requireEmbedder() }, input, cancellationSignal()),
    ),

    reembedFiles: step(async (input: ReembeddingInput): Promise<ReembedStepResult> =>
      reembedFiles({ ...deps, embedder: requireEmbedder() }, input, cancellationSignal()),
    ),

    /** The assistant's owner may read the reason. */
    giveUpReembedding: step((input: { assistantId: string; generation: number; reason: string }) =>
      giveUpReembedding(deps, input),
    ),

    /** The failure of a step that gave up for a reason other than the file. The file's owner may read the reason. */
    failFile: step(async (input: FileStepInput & { reason: string }) => {
      const error = `${input.reason} The file is not the cause: it can be retried.`
      await ingestedFileStore(deps.collections).markFailing({ _id: input.fileId }, { error, retryable: true })
    }),

    reopenFile: step(async (input: FileStepInput & { retry: number }) => {
      await fileStore(deps.collections).reopenOfAny(input.fileId, input.retry)
    }),

    deleteFile: step(async (input: FileDeletionInput) => {
      const isGone = await deleteFile(deps, input)
      if (!isGone) throw new AppError('unavailable', 'Parts of the file have not been removed yet.')
    }),
  }
}

function asFailure(error: unknown, isUnavailable: DocumentActivityDeps['isUnavailable']): unknown {
  // Reading the file again takes as long as the first time, so the workflow decides about it.
  if (isUnreadableFile(error))
    return ApplicationFailure.create({ message: error.message, type: readerFailedType, nonRetryable: true })
  if (error instanceof ModelFailure) return modelFailure(error)
  return isUnavailable(error) ? new AppError('unavailable', 'The database does not answer.', { cause: error }) : error
}

/** The embedding server says how long to wait; otherwise the pause grows with each attempt. */
function modelFailure(error: ModelFailure): ApplicationFailure {
  return ApplicationFailure.create({
    message: error.message,
    type: error.retryable ? 'unavailable' : error.type,
    nonRetryable: !error.retryable,
    details: [error.retryAfterMs],
    nextRetryDelay: error.retryAfterMs ?? backOffMs(activityInfo().attempt, { firstMs: 1000, longestMs: 60_000 }),
  })
}
