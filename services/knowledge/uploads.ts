import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Value } from 'typebox/value'
import type { AssistantSettings } from '../../domain/assistant-config.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { requestLimits } from '../../domain/limits.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type FileRecord, arrivingFile } from '../../domain/records/file.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Collections } from '../collections.ts'
import { parentsRemain } from '../parents.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { noEmbeddingModel } from './embedder.ts'
import { firstFiles } from './files.ts'
import { RetrievalConfig } from './retrieval-config.ts'
import type { StartIngestion } from './start-ingestion.ts'
import type { StorageQuota } from './storage-quota.ts'
import { type Upload, type UploadPart, brokenOff } from './upload.ts'
import type { VectorStore } from './vector-store.ts'

interface UploadsDeps {
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
  collections: KnowledgeCollections & Pick<Collections, 'users' | 'assistants' | 'projects'>
  blobs: BlobStore
  vectors: Pick<VectorStore, 'ping'>
  startIngestion: StartIngestion
  storageQuota: Pick<StorageQuota, 'limit'>
  /** Whether an embedding model is configured. */
  canEmbed: boolean
}

export type Uploads = ReturnType<typeof createUploads>

/** Stores uploaded files and starts their ingestion. */
export function createUploads(deps: UploadsDeps) {
  const fileRecords = createUploadRecords(deps)

  return {
    /**
     * Call before the first byte is read: throws `bad_request` for an assistant whose configuration cannot take
     * files, and `unavailable` if they could not be processed.
     */
    async admit(assistant: AssistantRecord): Promise<void> {
      requireFileConfiguration(deps.assistantConfigs.settingsOf(assistant))
      if (!deps.canEmbed) throw noEmbeddingModel()
      await deps.vectors.ping()
    },

    receive: (
      assistant: AssistantRecord,
      parts: AsyncIterable<UploadPart>,
      ingestionId: string = newId(),
      confirm: () => Promise<void> = async () => {},
      makerId?: string,
    ) => receiveUpload({ ...deps, fileRecords }, assistant, parts, { ingestionId, makerId, confirm }),

    repeated: (assistant: AssistantRecord, parts: AsyncIterable<UploadPart>, ingestionId: string) =>
      repeatedUpload(deps.collections, assistant, parts, ingestionId),
  }
}

/** An assistant's knowledge is searched by one `retrieval` tool. */
function requireFileConfiguration({ tools }: AssistantSettings): void {
  const retrieval = tools.filter((tool) => tool.type === 'retrieval')
  if (retrieval.length > 1) throw invalid('it names the tool retrieval more than once')
  if (!Value.Check(RetrievalConfig, retrieval[0]?.config ?? {}))
    throw invalid('the config of its tool retrieval is not valid')
}

function invalid(reason: string): AppError {
  return new AppError('bad_request', `The configuration of this assistant cannot take files: ${reason}.`)
}

/**
 * The earlier upload of this ingestion, if it began and `parts` are the same files; they are read and not stored.
 * Null if it did not begin. Throws `invalid_input` for other files.
 */
async function repeatedUpload(
  collections: Pick<KnowledgeCollections, 'files'>,
  assistant: AssistantRecord,
  parts: AsyncIterable<UploadPart>,
  ingestionId: string,
): Promise<Upload | null> {
  const stored = await fileStore(collections).openBegun(assistant._id, ingestionId)
  if (stored === undefined) return null
  const first: FileRecord[] = []
  for await (const part of parts) {
    const file: FileRecord | null = await stored.next()
    const sha256 = createHash('sha256')
    const pieces: AsyncIterable<Uint8Array> = part.content
    for await (const piece of pieces) sha256.update(piece)
    if (file?.name !== part.name || file.sha256 !== sha256.digest('hex')) throw otherFiles()
    if (first.length <= firstFiles.limit) first.push(file)
  }
  if ((await stored.next()) !== null) throw otherFiles()
  return { ingestionId, files: first }
}

function otherFiles(): AppError {
  return invalidInput(['header', 'idempotency-key'], 'was used for other files before', 'idempotency_key_reused')
}

interface ReceiveDeps {
  fileRecords: UploadRecords
  blobs: Pick<BlobStore, 'write' | 'delete'>
  startIngestion: StartIngestion
  storageQuota: Pick<StorageQuota, 'limit'>
}

const touchEveryMs = 60_000

/**
 * Stores the parts one after the other, then starts their ingestion. All or nothing: if a part is interrupted,
 * `confirm` throws, or the ingestion cannot be started, everything that this upload stored is removed. `makerId`: a member
 * who uploads.
 */
export async function receiveUpload(
  deps: ReceiveDeps,
  assistant: AssistantRecord,
  parts: AsyncIterable<UploadPart>,
  {
    ingestionId,
    makerId,
    confirm,
  }: { ingestionId: string; makerId?: string | undefined; confirm: () => Promise<void> },
): Promise<Upload> {
  const { fileRecords } = deps
  const upload: Upload = { ingestionId, files: [] }
  const records: FileRecord[] = []
  const touch = setInterval(() => void fileRecords.keepAlive(records), touchEveryMs)
  try {
    let refusal: AppError | undefined
    for await (const part of parts) {
      if (records.length === requestLimits.uploadFiles) refusal ??= tooManyFiles()
      if (refusal !== undefined) {
        await readToEnd(part.content)
        continue
      }
      const record = await fileRecords.open(assistant, upload.ingestionId, records.length, part, makerId)
      records.push(record)
      const limited = await deps.storageQuota.limit(assistant.user_id, part.content)
      const stored = await deps.blobs.write(record.blob_id, assistant._id, limited.content).catch((error: unknown) => {
        throw part.content.errored ? brokenOff(error) : error
      })
      await fileRecords.noteContent(record, { size: stored.size, sha256: stored.sha256 })
      refusal = await limited.refusal()
      upload.files.push(record)
    }
    if (refusal !== undefined) throw refusal
    await confirm()
    // The upload takes effect with the start of the workflow; its first step would show the files, too.
    await deps.startIngestion(assistant, { ingestionId, fileIds: records.map((record) => record._id) })
    await fileRecords.queue(records)
    return { ...upload, files: records.map((record) => ({ ...record, status: 'queued' as const })) }
  } catch (error) {
    await deps.blobs.delete(await fileRecords.removeUnseen(records))
    throw error
  } finally {
    clearInterval(touch)
  }
}

function tooManyFiles(): AppError {
  const most = requestLimits.uploadFiles
  return invalidInput(['body', 'files'], `one upload holds at most ${most} files`, 'too_long')
}

async function readToEnd(content: Readable): Promise<void> {
  for await (const piece of content) void piece
}

interface UploadRecordsDeps {
  collections: Pick<KnowledgeCollections, 'files'> & Pick<Collections, 'users' | 'assistants' | 'projects'>
  blobs: Pick<BlobStore, 'newBlobId'>
}

type UploadRecords = ReturnType<typeof createUploadRecords>

/** The records of files while their bytes arrive. */
function createUploadRecords({ collections, blobs }: UploadRecordsDeps) {
  const files = fileStore(collections)

  /** The record is stored before the bytes, so that stored bytes always have a record. */
  async function open(
    assistant: AssistantRecord,
    ingestionId: string,
    order: number,
    part: UploadPart,
    makerId?: string,
  ): Promise<FileRecord> {
    const record: FileRecord = {
      _id: newId(),
      assistant_id: assistant._id,
      user_id: assistant.user_id,
      ...(makerId === undefined ? {} : { created_by: makerId }),
      ingestion_id: ingestionId,
      order,
      name: part.name,
      content_type: part.contentType,
      ...arrivingFile(blobs.newBlobId(), new Date()),
    }
    // Set before the first file is stored: runs search for files only in assistants with this flag.
    if (order === 0 && assistant.has_files !== true) await assistantStore(collections).noteHasFiles(assistant._id)
    // Stored first and checked afterwards: many simultaneous uploads would compete for a write to their assistant's
    // record.
    await files.add(record)
    if (await parentsRemain(collections, { ...assistant, assistant_id: assistant._id })) return record
    await files.remove(record)
    throw new AppError('not_found', 'There is no such assistant.')
  }

  /** Throws `not_found` if a deletion has taken the record in the meantime. */
  async function noteContent(record: FileRecord, content: { size: number; sha256: string }): Promise<void> {
    Object.assign(record, content)
    if (!(await files.noteContent(record, content)))
      throw new AppError('not_found', 'The assistant was deleted during the upload.')
  }

  /** Shows the files as waiting for their ingestion. */
  async function queue(records: FileRecord[]): Promise<void> {
    await files.queueAll(idsOf(records))
  }

  /** Tells the sweep of abandoned uploads that this one is slow, not dead. */
  async function keepAlive(records: FileRecord[]): Promise<void> {
    try {
      await files.keepAlive(idsOf(records))
    } catch {
      // The next renewal is soon enough.
    }
  }

  /** Removes those that no ingestion has begun, and returns where their bytes are. The others are files by now. */
  async function removeUnseen(records: FileRecord[]): Promise<string[]> {
    const removed: string[] = []
    for (const record of records) if (await files.removeUnseen(record)) removed.push(record.blob_id)
    return removed
  }

  return { open, noteContent, queue, keepAlive, removeUnseen }
}

const idsOf = (records: FileRecord[]) => records.map((record) => record._id)
