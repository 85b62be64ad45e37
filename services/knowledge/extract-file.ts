import type { ExtractStepResult } from '../../domain/contracts/ingestion.ts'
import { ScansBusy, scanLimits } from '../../domain/knowledge/scan.ts'
import { isFinal, isUnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { type FileChunk, chunksInGroup, toFileChunk, toGroups } from '../../domain/records/chunk-group.ts'
import { type FileRecord, isOpenFile } from '../../domain/records/file.ts'
import type { WorkUsage } from '../budgets/work.ts'
import type { Collections } from '../collections.ts'
import type { Release, Semaphore } from '../semaphore.ts'
import { assistantStore } from '../stores/assistants.ts'
import { chunkStore } from '../stores/chunks.ts'
import { fileStore } from '../stores/files.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { Extraction, Scans } from './extraction.ts'
import type { Recognition } from './recognition.ts'
import { shareContent } from './shared-content.ts'
import { contentStore, ingestedFileStore } from './store.ts'

export interface ExtractFileDeps {
  collections: KnowledgeCollections & Pick<Collections, 'assistants'>
  transaction: RunInTransaction
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
 * is not caused by the file and is thrown. A copy of a ready file is not read again, and one of a file that is being
 * read is `busy` until then. Stops within a second when the file or its assistant is deleted, and
 * kills the reader.
 */
export async function extractFile(
  deps: ExtractFileDeps,
  fileId: string,
  signal: AbortSignal,
): Promise<ExtractStepResult> {
  const files = ingestedFileStore(deps.collections)
  const found = await fileStore(deps.collections).findOfAny(fileId)
  if (!found) return 'gone'
  if (found.extracted || !isOpenFile(found)) return 'done'
  const sharing = await shareContent(deps, found)
  if (sharing !== 'own') return sharing === 'shared' ? 'done' : 'busy'
  if (found.status === 'queued') {
    const refusal = await deps.workUsage.refusalOf({ assistantId: found.assistant_id })
    if (refusal !== undefined) {
      await files.markFailing(found, { error: refusal, retryable: true })
      return 'done'
    }
  }
  const scanSlot = found.has_scans ? await deps.scanSlots.acquire(found.user_id, signal) : undefined
  if (found.has_scans && scanSlot === undefined) return 'busy'
  const scans = await createScans(deps, found, scanSlot)
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
    const file = await files.begin(found)
    return file ? await readInto(deps, file, scans, AbortSignal.any([signal, watch.signal])) : 'gone'
  } catch (error) {
    if (watch.signal.aborted || !(await fileStore(deps.collections).existsOfAny(fileId))) return 'gone'
    if (error instanceof ScansBusy) {
      await files.noteScans(found)
      return 'busy'
    }
    if (!isUnreadableFile(error) || !isFinal(error)) throw error
    await files.markFailing(found, { error: error.message, retryable: false })
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
  collections: KnowledgeCollections,
  file: FileRecord,
  added: StoredChunk[],
  count: number,
  characters: number,
  end: Partial<Pick<FileRecord, 'extracted' | 'content_type' | 'scan'>> = {},
): Promise<boolean> {
  const chunks = chunkStore(collections)
  if (added.length > 0) await chunks.addOnce(toGroups(file, count - added.length, added))
  if (await ingestedFileStore(collections).noteChunks(file, { chunks: count, characters }, end)) return true
  const stored = { assistantId: file.assistant_id, contentId: file._id }
  if (!(await contentStore(collections).isShared(stored))) await chunks.remove(stored)
  return false
}

const pollEveryMs = 1000

/**
 * Aborts `signal` about a second after a file that is being read is no longer wanted: it or its assistant is being
 * deleted, or it has failed. So a deletion does not have to find the reader, which may be on another machine.
 */
function watchFile(
  collections: Pick<KnowledgeCollections, 'files'> & Pick<Collections, 'assistants'>,
  { _id, assistant_id: assistantId }: Pick<FileRecord, '_id' | 'assistant_id'>,
): { signal: AbortSignal; stop(): void } {
  const unwanted = new AbortController()
  let isStopped = false
  let timer = setTimeout(poll, pollEveryMs)

  async function poll(): Promise<void> {
    // If the database does not answer, nothing is known about the file.
    const isWanted = await isThere().catch(() => true)
    if (isStopped) return
    if (isWanted) timer = setTimeout(poll, pollEveryMs)
    else unwanted.abort(new Error('The file is no longer wanted.'))
  }

  async function isThere(): Promise<boolean> {
    const [file, assistant] = await Promise.all([
      fileStore(collections).isWantedOfAny(_id),
      assistantStore(collections).isPresentOfAny(assistantId),
    ])
    return file && assistant
  }

  return {
    signal: unwanted.signal,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
