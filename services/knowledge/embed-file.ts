import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbedStepResult, FileStepInput } from '../../domain/contracts/ingestion.ts'
import { AppError } from '../../domain/errors.ts'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import { type FileRecord, contentOf, isOpenFile } from '../../domain/records/file.ts'
import type { WorkUsage } from '../budgets/work.ts'
import type { Collections } from '../collections.ts'
import type { Semaphore } from '../semaphore.ts'
import { chunkStore } from '../stores/chunks.ts'
import { fileStore } from '../stores/files.ts'
import type { KnowledgeCollections } from './collections.ts'
import { type TokenCount, countTokens, embedChunks, uncountedVectors } from './embed-chunks.ts'
import type { Embedder } from './embedder.ts'
import { requireEmbeddingModel } from './embedding-model.ts'
import { contentStore, ingestedFileStore } from './store.ts'
import { deleteVectorsOfFile } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

export interface EmbedFileDeps {
  collections: KnowledgeCollections & Pick<Collections, 'assistants'>
  vectors: Pick<VectorStore, 'upsert' | 'spacesOf' | 'count' | 'deleteFile' | 'finalize'>
  embedder: Embedder
  workUsage: Pick<WorkUsage, 'note'>
  /** One user's files leave some slots to other users. */
  embeddingSlots: Pick<Semaphore, 'acquire'>
}

/** Some stores show a write only after a while. */
const shownWithinMs = 10_000
/** After this long without new chunks, the step ends and frees its slot. */
const idleLimitMs = 5000

/**
 * Embeds the chunks of a file in batches and stores their vectors, while the file is still being extracted.
 * `embedded` on the file's record is the number of chunks, from the first, whose vectors are stored: a retry
 * continues from there. After the last batch, the file becomes ready if a recount finds every vector; if some are
 * missing, all are stored again. Returns `waiting` if there is nothing to embed yet, no slot for this user, or while
 * the assistant's files are embedded anew.
 */
export async function embedFile(
  deps: EmbedFileDeps,
  input: FileStepInput,
  signal: AbortSignal,
): Promise<EmbedStepResult> {
  const file = await ingestedFileStore(deps.collections).findOwnerOfAny(input.fileId)
  // Only the remains of a deleted or failing file have to be removed, which needs no slot.
  const tokens = countTokens(deps.workUsage, input.assistantId)
  if (file === null || !isOpenFile(file)) return embedUntilIdle(deps, input, { generation: 0, tokens }, signal)
  const release = await deps.embeddingSlots.acquire(file.user_id, signal)
  if (release === undefined) return 'waiting'
  try {
    const generation = await requireEmbeddingModel(deps, file.assistant_id, deps.embedder.model)
    return generation === 'reembedding' ? 'waiting' : await embedUntilIdle(deps, input, { generation, tokens }, signal)
  } finally {
    release()
    await tokens.end()
  }
}

async function embedUntilIdle(
  deps: EmbedFileDeps,
  input: FileStepInput,
  { generation, tokens }: { generation: number; tokens: TokenCount },
  signal: AbortSignal,
): Promise<EmbedStepResult> {
  const files = ingestedFileStore(deps.collections)
  const space = vectorSpace(input.assistantId, generation)
  let idleSince = Date.now()
  /** No attempt has stored a vector beyond this chunk: an interrupted one left at most one uncounted write. */
  let untouched: number | undefined
  for (;;) {
    signal.throwIfAborted()
    const file = await fileStore(deps.collections).findOfAny(input.fileId)
    if (!file || file.status === 'failing') {
      await removeRemains(deps, input, file !== null)
      return file ? 'failed' : 'gone'
    }
    if (file.status === 'ready' || file.status === 'failed') return file.status
    untouched ??= file.embedded + uncountedVectors
    if (file.embedded < file.chunks) {
      const onStored = (embedded: number) => files.noteEmbedded(file, embedded)
      await embedChunks(deps, file, { space, from: file.embedded, untouched, onStored, tokens }, signal)
      idleSince = Date.now()
    } else if (file.extracted) {
      const end = await finish(deps, file, generation, signal)
      if (end === 'ready') continue
      if (end === 'model_changed') return 'waiting'
      if (untouched === Infinity)
        throw new AppError('unavailable', 'The vector store lost vectors that were stored in it.')
      await files.forgetEmbedded(file)
      untouched = Infinity
    } else if (Date.now() - idleSince > idleLimitMs) {
      return 'waiting'
    } else {
      await sleep(Math.min(200, 15 + (Date.now() - idleSince) / 10), undefined, { signal })
    }
  }
}

/**
 * A file is ready when the store has a vector for each chunk. `model_changed`: its assistant has taken another space
 * meanwhile, and the file has to be embedded for that one.
 */
async function finish(
  deps: EmbedFileDeps,
  file: FileRecord,
  generation: number,
  signal: AbortSignal,
): Promise<'ready' | 'incomplete' | 'model_changed'> {
  const files = ingestedFileStore(deps.collections)
  if (!(await hasAllVectors(deps.vectors, file, vectorSpace(file.assistant_id, generation), signal)))
    return 'incomplete'
  const isCurrent = async () =>
    (await requireEmbeddingModel(deps, file.assistant_id, deps.embedder.model)) === generation
  if (await isCurrent()) {
    await files.finish(file, generation)
    // If the embedding model was changed in between, and the change has ended, it has not embedded this file anew.
    if (await isCurrent()) return 'ready'
  }
  await files.embedAgain(file, generation)
  return 'model_changed'
}

/** Waits for stores that show a write only after a while. */
export async function hasAllVectors(
  vectors: Pick<VectorStore, 'finalize' | 'count'>,
  file: Pick<FileRecord, '_id' | 'content_id' | 'chunks'>,
  space: string,
  signal: AbortSignal,
): Promise<boolean> {
  await vectors.finalize(space, contentOf(file), file.chunks)
  const until = Date.now() + shownWithinMs
  while ((await vectors.count(space, contentOf(file))) < file.chunks) {
    if (Date.now() > until) return false
    await sleep(500, undefined, { signal })
  }
  return true
}

async function removeRemains(
  deps: EmbedFileDeps,
  { assistantId, fileId }: FileStepInput,
  isKept: boolean,
): Promise<void> {
  const stored = { assistantId, contentId: fileId }
  if (!(await contentStore(deps.collections).isShared(stored))) {
    await deleteVectorsOfFile(deps.vectors, assistantId, fileId)
    await chunkStore(deps.collections).remove(stored)
  }
  if (isKept) await ingestedFileStore(deps.collections).fail({ _id: fileId })
}
