import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbedStepResult, FileStepInput } from '../../domain/contracts/ingestion.ts'
import { AppError } from '../../domain/errors.ts'
import { type FileChunk, chunkId } from '../../domain/records/chunk-group.ts'
import { type FileRecord, isOpenFile } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import type { KnowledgeCollections } from './collections.ts'
import { requireEmbeddingModel } from './embedding-model.ts'
import type { Semaphore } from '../semaphore.ts'
import type { Embedder } from './embedder.ts'
import { readChunks } from './stored-chunks.ts'
import type { VectorStore } from './vector-store.ts'

export interface EmbedFileDeps {
  collections: KnowledgeCollections & Pick<Collections, 'assistants'>
  vectors: Pick<VectorStore, 'upsert' | 'count' | 'deleteFile' | 'settle'>
  embedder: Embedder
  /** One user's files leave some slots to other users. */
  embeddingSlots: Pick<Semaphore, 'acquire'>
}

/** Texts in one request: about 50,000 tokens, a sixth of the limit of the largest provider. */
export const embeddingBatch = 128
/** Concurrent requests. As many batches may be in a write meanwhile: both are repeated after a kill. */
export const embeddingsAtOnce = 4
/**
 * How often written rows are compacted, which keeps further writes small: without it the memory of a large
 * ingestion grew.
 */
const settleEveryChunks = 8192
/** Some stores show a write only after a while. */
const shownWithinMs = 10_000
/** After this long without new chunks, the step ends and frees its slot. */
const idleLimitMs = 5000

/**
 * Embeds the chunks of a file in batches and stores their vectors, while the file is still being extracted.
 * `embedded` on the file's record is the number of chunks, from the first, whose vectors are stored: a retry
 * continues from there. After the last batch, the file becomes ready if a recount finds every vector; if some are
 * missing, all are stored again. Returns `waiting` if there is nothing to embed yet, or no slot for this user.
 */
export async function embedFile(
  deps: EmbedFileDeps,
  input: FileStepInput,
  signal: AbortSignal,
): Promise<EmbedStepResult> {
  const file = await deps.collections.files
    .findById(input.fileId, { user_id: 1, assistant_id: 1, status: 1 })
    .lean<Pick<FileRecord, 'user_id' | 'assistant_id' | 'status'>>()
  // Only the remains of a deleted or failing file have to be removed, which needs no slot.
  if (file === null || !isOpenFile(file)) return embedUntilIdle(deps, input, signal)
  const release = await deps.embeddingSlots.acquire(file.user_id, signal)
  if (release === undefined) return 'waiting'
  try {
    await requireEmbeddingModel(deps, file.assistant_id, deps.embedder.model)
    return await embedUntilIdle(deps, input, signal)
  } finally {
    release()
  }
}

async function embedUntilIdle(
  deps: EmbedFileDeps,
  input: FileStepInput,
  signal: AbortSignal,
): Promise<EmbedStepResult> {
  const { files } = deps.collections
  let idleSince = Date.now()
  /** No attempt has stored a vector beyond this chunk: an interrupted one left at most one uncounted write. */
  let untouched: number | undefined
  for (;;) {
    signal.throwIfAborted()
    const file = await files.findById(input.fileId).lean<FileRecord>()
    if (!file || file.status === 'failing') {
      await removeRemains(deps, input, file !== null)
      return file ? 'failed' : 'gone'
    }
    if (file.status === 'ready' || file.status === 'failed') return file.status
    untouched ??= file.embedded + embeddingBatch * embeddingsAtOnce
    if (file.embedded < file.chunks) {
      await embedAvailable(deps, file, untouched, signal)
      idleSince = Date.now()
    } else if (file.extracted) {
      if (await finish(deps, file, signal)) continue
      if (untouched === Infinity)
        throw new AppError('unavailable', 'The vector store lost vectors that were stored in it.')
      await files.updateOne({ _id: file._id, status: 'processing' }, { $set: { embedded: 0 } })
      untouched = Infinity
    } else if (Date.now() - idleSince > idleLimitMs) {
      return 'waiting'
    } else {
      await sleep(Math.min(200, 15 + (Date.now() - idleSince) / 10), undefined, { signal })
    }
  }
}

/**
 * Embeds the chunks that are extracted by now. Requests and writes overlap; vectors and the count are stored in order.
 * Holds the batches under way and those that are being written: eight at most.
 */
async function embedAvailable(
  deps: EmbedFileDeps,
  file: FileRecord,
  untouched: number,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const underWay: EmbeddedBatch[] = []
  let read: FileChunk[] = []
  let next = file.embedded
  let writing: Promise<boolean> | undefined
  try {
    for (;;) {
      while (next < file.chunks && underWay.length < embeddingsAtOnce) {
        if (read.length === 0) {
          const end = Math.min(next + embeddingBatch * embeddingsAtOnce, file.chunks)
          read = await readChunks(deps.collections, file, next, end)
        }
        const chunks = read.splice(0, embeddingBatch)
        if (chunks.length === 0) return
        underWay.push(beginBatch(deps, chunks, either))
        next += chunks.length
      }
      await underWay[0]?.embedding
      // One write at a time, while the next batches are embedded.
      if ((await writing) === false) return
      // Batches that arrived together are stored together.
      const arrived = underWay.splice(0, countArrived(underWay))
      const first = arrived[0]?.chunks[0]
      if (!first) return
      writing = storeBatches(deps, file, arrived, first.position >= untouched)
      writing.catch(() => undefined)
    }
  } catch (error) {
    failed.abort()
    throw error
  } finally {
    // What follows this step must not overlap with its last write.
    await writing?.catch(() => undefined)
  }
}

interface EmbeddedBatch {
  chunks: FileChunk[]
  embedding: Promise<void>
  /** One vector for each chunk, once `embedding` has settled. */
  vectors?: number[][]
}

function beginBatch(deps: EmbedFileDeps, chunks: FileChunk[], signal: AbortSignal): EmbeddedBatch {
  const texts = chunks.map((chunk) => embeddedText(chunk))
  const batch: EmbeddedBatch = {
    chunks,
    embedding: deps.embedder.embed(texts, signal).then((vectors) => {
      batch.vectors = vectors
    }),
  }
  batch.embedding.catch(() => undefined)
  return batch
}

function countArrived(batches: EmbeddedBatch[]): number {
  const waiting = batches.findIndex((batch) => batch.vectors === undefined)
  return waiting < 0 ? batches.length : waiting
}

/** False if the file was deleted in the meantime. */
async function storeBatches(
  deps: EmbedFileDeps,
  file: FileRecord,
  batches: EmbeddedBatch[],
  areNew: boolean,
): Promise<boolean> {
  const records = batches.flatMap(({ chunks, vectors }) =>
    chunks.map((chunk, index) => ({
      id: chunkId(file._id, chunk.position),
      fileId: file._id,
      position: chunk.position,
      text: searchedText(file, chunk),
      vector: vectors?.[index] ?? [],
    })),
  )
  await deps.vectors.upsert(file.assistant_id, records, { areNew })
  const embedded = (records.at(-1)?.position ?? 0) + 1
  const { matchedCount } = await deps.collections.files.updateOne(
    { _id: file._id, status: 'processing' },
    { $max: { embedded }, $set: { updated_at: new Date() } },
  )
  if (matchedCount === 0) return false
  if (Math.floor(embedded / settleEveryChunks) > Math.floor((embedded - records.length) / settleEveryChunks)) {
    await deps.vectors.settle(file.assistant_id, file._id)
  }
  return true
}

/** The subject of a chunk is often named only in the headings above it. */
function embeddedText(chunk: FileChunk): string {
  return chunk.heading === undefined || chunk.text.startsWith(chunk.heading)
    ? chunk.text
    : `${chunk.heading}\n${chunk.text}`
}

function searchedText(file: FileRecord, chunk: FileChunk): string {
  return `${file.name} ${embeddedText(chunk)}`
}

/** A file is ready when the store has a vector for each chunk. False if some are missing. */
async function finish(deps: EmbedFileDeps, file: FileRecord, signal: AbortSignal): Promise<boolean> {
  const { files } = deps.collections
  await deps.vectors.settle(file.assistant_id, file._id, file.chunks)
  const until = Date.now() + shownWithinMs
  while ((await deps.vectors.count(file.assistant_id, file._id)) < file.chunks) {
    if (Date.now() > until) return false
    await sleep(500, undefined, { signal })
  }
  await requireEmbeddingModel(deps, file.assistant_id, deps.embedder.model)
  await files.updateOne(
    { _id: file._id, status: 'processing' },
    { $set: { status: 'ready', updated_at: new Date() }, $unset: { error: 1 } },
  )
  return true
}

async function removeRemains(
  deps: EmbedFileDeps,
  { assistantId, fileId }: FileStepInput,
  isKept: boolean,
): Promise<void> {
  await deps.vectors.deleteFile(assistantId, fileId)
  await deps.collections.chunks.deleteMany({ assistant_id: assistantId, file_id: fileId })
  if (!isKept) return
  await deps.collections.files.updateOne(
    { _id: fileId, status: 'failing' },
    { $set: { status: 'failed', chunks: 0, characters: 0, embedded: 0, updated_at: new Date() } },
  )
}
