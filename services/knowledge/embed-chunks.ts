import { type FileChunk, chunkId } from '../../domain/records/chunk-group.ts'
import { type FileRecord, contentOf } from '../../domain/records/file.ts'
import type { WorkUsage } from '../budgets/work.ts'
import { searchedText } from './chunk-texts.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { Embedder } from './embedder.ts'
import { readChunks } from './stored-chunks.ts'
import type { VectorStore } from './vector-store.ts'

interface EmbedChunksDeps {
  collections: Pick<KnowledgeCollections, 'chunks'>
  vectors: Pick<VectorStore, 'upsert' | 'finalize'>
  embedder: Embedder
}

/** Texts in one request. */
export const embeddingBatch = 128
/** Tokens in one request: a fifth of what the largest provider allows. The usual 128 texts have 50,000. */
const batchTokens = 64 * 1024
/** Concurrent requests. As many batches may be in a write meanwhile: both are repeated after a kill. */
export const embeddingsAtOnce = 4
/** An interrupted attempt has stored at most this many vectors more than it has counted. */
export const uncountedVectors = embeddingBatch * embeddingsAtOnce
/**
 * How often written rows are compacted, which keeps further writes small: without it the memory of a large
 * ingestion grew. So many vectors of 1,536 numbers outside of an index cost a search 10 ms.
 */
const finalizeEveryChunks = 4096
/** A worker that is killed has counted all but so many. */
const countEveryTokens = 1_000_000

interface Destination {
  space: string
  /** The first chunk to embed. */
  from: number
  /** No attempt has stored a vector from this chunk on. */
  untouched: number
  /** Notes how many chunks, from the first, have stored vectors. False ends the work, as when the file was deleted. */
  onStored(embedded: number): Promise<boolean>
  tokens: TokenCount
}

export type TokenCount = ReturnType<typeof countTokens>

/** Counts the tokens of embedded chunks in the usage of the assistant's project: many at a time, and the rest at the end. */
export function countTokens(workUsage: Pick<WorkUsage, 'note'>, assistantId: string) {
  let uncounted = 0
  async function note(): Promise<void> {
    const tokens = uncounted
    uncounted = 0
    if (tokens > 0) await workUsage.note({ assistantId }, { embedding_tokens: tokens })
  }
  return {
    async add(chunks: FileChunk[]): Promise<void> {
      for (const { tokens } of chunks) uncounted += tokens
      if (uncounted >= countEveryTokens) await note()
    },
    end: note,
  }
}

/**
 * Embeds the chunks of a file that are extracted by now. Requests and writes overlap; vectors and the count are
 * stored in order. Holds the batches under way and those that are being written: eight at most.
 */
export async function embedChunks(
  deps: EmbedChunksDeps,
  file: FileRecord,
  destination: Destination,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const underWay: EmbeddedBatch[] = []
  let read: FileChunk[] = []
  let next = destination.from
  let writing: Promise<boolean> | undefined
  try {
    for (;;) {
      while (next < file.chunks && underWay.length < embeddingsAtOnce) {
        if (read.length === 0) {
          const end = Math.min(next + embeddingBatch * embeddingsAtOnce, file.chunks)
          read = await readChunks(deps.collections, file, next, end)
        }
        const chunks = read.splice(0, batchLength(read))
        if (chunks.length === 0) return
        underWay.push(beginBatch(deps, file, chunks, either))
        next += chunks.length
      }
      await underWay[0]?.embedding
      // One write at a time, while the next batches are embedded.
      if ((await writing) === false) return
      // Batches that arrived together are stored together.
      const arrived = underWay.splice(0, countArrived(underWay))
      const first = arrived[0]?.chunks[0]
      if (!first) return
      await destination.tokens.add(arrived.flatMap(({ chunks }) => chunks))
      writing = storeBatches(deps, file, arrived, destination)
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

/** How many of the next chunks fit into one request. */
function batchLength(chunks: FileChunk[]): number {
  let tokens = 0
  const tooMany = chunks.findIndex((chunk) => (tokens += chunk.tokens) > batchTokens)
  return Math.min(embeddingBatch, tooMany === -1 ? chunks.length : Math.max(tooMany, 1))
}

interface EmbeddedBatch {
  chunks: FileChunk[]
  embedding: Promise<void>
  /** One vector for each chunk, once `embedding` has settled. */
  vectors?: number[][]
}

function beginBatch(deps: EmbedChunksDeps, file: FileRecord, chunks: FileChunk[], signal: AbortSignal): EmbeddedBatch {
  const texts = chunks.map((chunk) => searchedText(file, chunk))
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

/** What `onStored` says. */
async function storeBatches(
  deps: EmbedChunksDeps,
  file: FileRecord,
  batches: EmbeddedBatch[],
  { space, untouched, onStored }: Destination,
): Promise<boolean> {
  const records = batches.flatMap(({ chunks, vectors }) =>
    chunks.map((chunk, index) => ({
      id: chunkId(contentOf(file), chunk.position),
      fileId: contentOf(file),
      position: chunk.position,
      text: searchedText(file, chunk),
      vector: vectors?.[index] ?? [],
    })),
  )
  await deps.vectors.upsert(space, records, { areNew: (records[0]?.position ?? 0) >= untouched })
  const embedded = (records.at(-1)?.position ?? 0) + 1
  if (!(await onStored(embedded))) return false
  if (Math.floor(embedded / finalizeEveryChunks) > Math.floor((embedded - records.length) / finalizeEveryChunks)) {
    await deps.vectors.finalize(space, contentOf(file))
  }
  return true
}
