import { type FileChunk, chunkId, chunksOf, groupId } from '../../domain/records/chunk-group.ts'
import { type FileRecord, contentOf } from '../../domain/records/file.ts'
import { chunkStore } from '../stores/chunks.ts'
import type { KnowledgeCollections } from './collections.ts'

type Chunks = Pick<KnowledgeCollections, 'chunks'>

type FileOf = Pick<FileRecord, '_id' | 'content_id' | 'assistant_id'>

/** Chunks that are read at once, when a whole file is read. */
const chunksAtOnce = 512

/** The chunks from one position up to, but not including, another; fewer where the file ends. */
export async function readChunks(collections: Chunks, file: FileOf, from: number, to: number): Promise<FileChunk[]> {
  const content = { assistantId: file.assistant_id, contentId: contentOf(file) }
  const found = await chunkStore(collections).listBetween(content, from, to)
  return found
    .toSorted((a, b) => a.position - b.position)
    .flatMap(chunksOf)
    .filter(({ position }) => position >= from && position < to)
}

/** The chunks of a file from one position on, read in parts. */
export async function* eachChunk(
  collections: Chunks,
  file: FileOf,
  from: number,
  most: number,
): AsyncGenerator<FileChunk> {
  const end = from + most
  for (let next = from; next < end;) {
    const found = await readChunks(collections, file, next, Math.min(next + chunksAtOnce, end))
    if (found.length === 0) return
    yield* found
    next += found.length
  }
}

/** The chunks that a search has found, by their ids in the vector store. */
export async function findChunks(
  collections: Chunks,
  assistantId: string,
  matches: { id: string; fileId: string }[],
): Promise<Map<string, FileChunk & { fileId: string }>> {
  const groups = matches.map(({ id, fileId }) => groupId(fileId, Number(id.slice(fileId.length + 1))))
  const ids = [...new Set([...groups, ...matches.map(({ id }) => id)])]
  const found = await chunkStore(collections).listOwned(assistantId, ids)
  const wanted = new Set(matches.map(({ id }) => id))
  const result = new Map<string, FileChunk & { fileId: string }>()
  for (const record of found) {
    for (const chunk of chunksOf(record)) {
      const id = chunkId(record.file_id, chunk.position)
      if (wanted.has(id)) result.set(id, { ...chunk, fileId: record.file_id })
    }
  }
  return result
}

/** How many chunks of a file are stored, counted in the records. Reads their texts, part by part. */
export async function countChunks(collections: Chunks, file: FileOf): Promise<number> {
  let count = 0
  for await (const _ of eachChunk(collections, file, 0, Infinity)) count++
  return count
}
