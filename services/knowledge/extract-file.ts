import { cutText } from '../../domain/cut-text.ts'
import type { ExtractStepResult } from '../../domain/contracts/ingestion.ts'
import { ScansBusy, scanLimits } from '../../domain/knowledge/scan.ts'
import { isFinal, isUnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import {
  type ChunkGroupRecord,
  type FileChunk,
  chunksInGroup,
  toFileChunk,
  toGroups,
} from '../../domain/records/chunk-group.ts'
import { type FileRecord, isOpenFile, openFileStatuses } from '../../domain/records/file.ts'
import type { WorkUsage } from '../budgets/work.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { Release, Semaphore } from '../semaphore.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { Extraction, Scans } from './extraction.ts'
import type { Recognition } from './recognition.ts'
import { watchFile } from './watch-file.ts'

export interface ExtractFileDeps {
  collections: KnowledgeCollections & Pick<Collections, 'assistants'>
  blobs: Pick<BlobStore, 'read'>
  extraction: Extraction
  /** One user's files leave some slots to other users. */
  readingSlots: Pick<Semaphore, 'acquire'>
  /** Some reading slots never read pictures. */
  scanSlots: Pick<Semaphore, 'acquire' | 'tryAcquire'>
  recognition: Recognition
  workUsage: Pick<WorkUsage, 'note' | 'refusalOf'>
}

/** Chunks stored in one write: whole groups, so that a retry begins with a new one. */
const chunksInWrite = 12 * chunksInGroup

/**
 * Reads a file into chunks and stores them in order. A retry reads the file again and skips the chunks that are
 * stored. A file that the reader calls unreadable is marked as failing, and this step succeeds; every other error
 * is not caused by the file and is thrown. Stops within a second when the file or its assistant is deleted, and
 * kills the reader.
 */
export async function extractFile(
  deps: ExtractFileDeps,
  fileId: string,
  signal: AbortSignal,
): Promise<ExtractStepResult> {
  const { files } = deps.collections
  const found = await files.findById(fileId).lean<FileRecord>()
  if (!found) return 'gone'
  if (found.extracted || !isOpenFile(found)) return 'done'
  if (found.status === 'queued') {
    const refusal = await deps.workUsage.refusalOf({ assistantId: found.assistant_id })
    if (refusal !== undefined) {
      await markFailing(deps.collections, fileId, { error: refusal, retryable: true })
      return 'done'
    }
  }
  const scanPlace = found.has_scans ? await deps.scanSlots.acquire(found.user_id, signal) : undefined
  if (found.has_scans && scanPlace === undefined) return 'busy'
  const scans = await createScans(deps, found, scanPlace)
  const release = await deps.readingSlots.acquire(found.user_id, signal).catch((error: unknown) => {
    scans.end()
    throw error
  })
  if (release === undefined) {
    scans.end()
    return 'busy'
  }
  const watch = watchFile(deps.collections, found)
  try {
    const file = await begin(deps.collections, fileId)
    return file ? await readInto(deps, file, scans, AbortSignal.any([signal, watch.signal])) : 'gone'
  } catch (error) {
    if (watch.signal.aborted || !(await files.exists({ _id: fileId }))) return 'gone'
    if (error instanceof ScansBusy) {
      await files.updateOne({ _id: fileId }, { $set: { has_scans: true } })
      return 'busy'
    }
    if (!isUnreadableFile(error) || !isFinal(error)) throw error
    await markFailing(deps.collections, fileId, { error: error.message, retryable: false })
    return 'done'
  } finally {
    watch.stop()
    release()
    scans.end()
  }
}

/** For the pages of a file that are pictures: its place, its time and its user's. */
async function createScans(
  { scanSlots, recognition, workUsage }: ExtractFileDeps,
  { user_id: userId, assistant_id: assistantId }: FileRecord,
  taken: Release | undefined,
): Promise<Scans & { end(): void }> {
  let place = taken
  const secondsOfDay = await recognition.secondsLeft(userId).catch((error: unknown) => {
    place?.()
    throw error
  })
  return {
    seconds: Math.min(scanLimits.secondsOfFile, secondsOfDay),
    isDayLimit: secondsOfDay < scanLimits.secondsOfFile,
    begin: () => (place ??= scanSlots.tryAcquire(userId)) !== undefined,
    used(seconds) {
      recognition.note(userId, seconds)
      // Does not wait, as above.
      if (seconds > 0) void workUsage.note({ assistantId }, { recognition_seconds: seconds })
    },
    end: () => place?.(),
  }
}

function begin({ files }: Pick<KnowledgeCollections, 'files'>, fileId: string): Promise<FileRecord | null> {
  return files
    .findOneAndUpdate(
      { _id: fileId, status: { $in: [...openFileStatuses] } },
      { $set: { status: 'processing', updated_at: new Date() } },
      { returnDocument: 'after' },
    )
    .lean<FileRecord>()
}

type StoredChunk = Omit<FileChunk, 'position'>

async function readInto(
  deps: ExtractFileDeps,
  file: FileRecord,
  scans: Scans,
  signal: AbortSignal,
): Promise<'done' | 'gone'> {
  const { name, size, assistant_id: owner, chunking: cut } = file
  const chunking = cut && { maxTokens: cut.max_tokens, overlapTokens: cut.overlap_tokens }
  const content = () => deps.blobs.read(file.blob_id)
  const chunks = deps.extraction.extract({ name, size, owner, chunking, content, scans }, signal)
  let position = 0
  let characters = 0
  let waiting: StoredChunk[] = []
  let storing: Promise<boolean> | undefined
  try {
    for (;;) {
      const next = await chunks.next()
      if (next.done) {
        if ((await storing) === false) return 'gone'
        const { contentType, scan } = next.value
        const end = { extracted: true, content_type: contentType, ...(scan && { scan }) }
        return (await store(deps.collections, file, waiting, position, characters, end)) ? 'done' : 'gone'
      }
      characters += next.value.newCharacters
      if (position >= file.chunks) waiting.push(toFileChunk(next.value))
      position++
      if (waiting.length < chunksInWrite) continue
      // One write at a time, while the next chunks are read.
      if ((await storing) === false) return 'gone'
      storing = store(deps.collections, file, waiting, position, characters)
      storing.catch(() => undefined)
      waiting = []
    }
  } finally {
    // Ends the reader, also if the file is gone.
    await chunks.return({ contentType: '' })
    // What follows this step must not overlap with its last write.
    await storing?.catch(() => undefined)
  }
}

/** Stores chunks first, then the count that makes them visible. False if the file was deleted in the meantime. */
async function store(
  { files, chunks }: KnowledgeCollections,
  file: FileRecord,
  added: StoredChunk[],
  count: number,
  characters: number,
  end: Partial<Pick<FileRecord, 'extracted' | 'content_type' | 'scan'>> = {},
): Promise<boolean> {
  if (added.length > 0) await insertOnce(chunks, toGroups(file, count - added.length, added))
  const { matchedCount } = await files.updateOne(
    { _id: file._id, status: 'processing' },
    { $max: { chunks: count, characters }, $set: { ...end, updated_at: new Date() } },
  )
  if (matchedCount === 0) await chunks.deleteMany({ assistant_id: file.assistant_id, file_id: file._id })
  return matchedCount > 0
}

/** An interrupted attempt may have stored some of them: they are identical. */
async function insertOnce(chunks: KnowledgeCollections['chunks'], records: ChunkGroupRecord[]): Promise<void> {
  try {
    await chunks.insertMany(records, { ordered: false, lean: true })
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
    const stored = await chunks.countDocuments({ _id: { $in: records.map((record) => record._id) } })
    if (stored < records.length) throw error
  }
}

/**
 * The file stays in the list with the reason, and becomes `failed` when `embedFile` has removed its chunks and
 * vectors.
 */
export async function markFailing(
  { files }: Pick<KnowledgeCollections, 'files'>,
  fileId: string,
  { error, retryable }: { error: string; retryable: boolean },
): Promise<void> {
  await files.updateOne(
    { _id: fileId, status: { $in: [...openFileStatuses] } },
    { $set: { status: 'failing', error: cutText(error, 500), retryable, updated_at: new Date() } },
  )
}
