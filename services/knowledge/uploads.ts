import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { AssistantSettings } from '../../domain/assistant-config.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Collections } from '../collections.ts'
import { parentsRemain } from '../parents.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { noEmbeddingModel } from './embedder.ts'
import { firstFiles } from './files.ts'
import type { StartIngestion } from './start-ingestion.ts'
import type { StorageQuota } from './storage-quota.ts'
import type { VectorStore } from './vector-store.ts'

export interface UploadPart {
  name: string
  contentType: string
  content: Readable
}

export interface Upload {
  ingestionId: string
  /** In their state at the start of their ingestion, in order. */
  files: FileRecord[]
}

export interface UploadsDeps {
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
  collections: KnowledgeCollections & Pick<Collections, 'assistants' | 'projects'>
  blobs: BlobStore
  vectors: Pick<VectorStore, 'ping'>
  startIngestion: StartIngestion
  storageQuota: StorageQuota
  /** Whether an embedding model is configured. */
  canEmbed: boolean
}

const touchEveryMs = 60_000

/** Stores uploaded files and starts their ingestion. */
export function createUploads(deps: UploadsDeps) {
  const { files, assistants } = deps.collections

  /**
   * Call before the first byte is read: throws `bad_request` for an assistant whose configuration cannot take
   * files, and `unavailable` if they could not be processed.
   */
  async function admit(assistant: AssistantRecord): Promise<void> {
    requireFileConfiguration(deps.assistantConfigs.settingsOf(assistant))
    if (!deps.canEmbed) throw noEmbeddingModel()
    await deps.vectors.ping()
  }

  /**
   * Stores the parts one after the other, then starts their ingestion. All or nothing: if a part is interrupted,
   * `confirm` throws, or the ingestion cannot be started, everything that this upload stored is removed.
   */
  async function receive(
    assistant: AssistantRecord,
    parts: AsyncIterable<UploadPart>,
    ingestionId: string = newId(),
    confirm: () => Promise<void> = async () => {},
  ): Promise<Upload> {
    const upload: Upload = { ingestionId, files: [] }
    const records: FileRecord[] = []
    const touch = setInterval(() => void keepAlive(records), touchEveryMs)
    try {
      let refusal: AppError | undefined
      for await (const part of parts) {
        if (refusal !== undefined) {
          await readToEnd(part.content)
          continue
        }
        const record = await open(assistant, upload.ingestionId, records.length, part)
        records.push(record)
        const limited = await deps.storageQuota.limit(assistant.user_id, part.content)
        const { size, sha256 } = await deps.blobs
          .write(record.blob_id, assistant._id, limited.content)
          .catch((error: unknown) => {
            throw part.content.errored ? brokenOff(error) : error
          })
        Object.assign(record, { size, sha256 })
        const { matchedCount } = await files.updateOne({ _id: record._id }, { $set: { size, sha256 } })
        if (matchedCount === 0) throw new AppError('not_found', 'The assistant was deleted during the upload.')
        refusal = await limited.refusal()
        upload.files.push(record)
      }
      if (refusal !== undefined) throw refusal
      await confirm()
      await begin(assistant, upload)
      return { ...upload, files: records.map((record) => ({ ...record, status: 'queued' as const })) }
    } catch (error) {
      await discard(records)
      throw error
    } finally {
      clearInterval(touch)
    }
  }

  /**
   * The earlier upload of this ingestion, if it began and `parts` are the same files; they are read and not stored.
   * Null if it did not begin. Throws `invalid_input` for other files.
   */
  async function repeated(
    assistant: AssistantRecord,
    parts: AsyncIterable<UploadPart>,
    ingestionId: string,
  ): Promise<Upload | null> {
    const begun = { assistant_id: assistant._id, ingestion_id: ingestionId, status: { $ne: 'uploading' as const } }
    if ((await files.exists(begun)) === null) return null
    const stored = files.find(begun).sort({ order: 1 }).lean<FileRecord>().cursor()
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

  /** The record is stored before the bytes, so that stored bytes always have a record. */
  async function open(
    assistant: AssistantRecord,
    ingestionId: string,
    order: number,
    part: UploadPart,
  ): Promise<FileRecord> {
    const now = new Date()
    const record: FileRecord = {
      _id: newId(),
      assistant_id: assistant._id,
      user_id: assistant.user_id,
      ingestion_id: ingestionId,
      order,
      name: part.name,
      content_type: part.contentType,
      size: 0,
      sha256: '',
      blob_id: deps.blobs.newBlobId(),
      status: 'uploading',
      chunks: 0,
      characters: 0,
      extracted: false,
      embedded: 0,
      created_at: now,
      updated_at: now,
    }
    // Set before the first file is stored: runs search for files only in assistants with this flag.
    if (order === 0 && assistant.has_files !== true)
      await assistants.updateOne({ _id: assistant._id, has_files: { $ne: true } }, { $set: { has_files: true } })
    // Stored first and checked afterwards: many simultaneous uploads would compete for a write to their assistant's
    // record.
    await files.create([record])
    if (await parentsRemain(deps.collections, { ...assistant, assistant_id: assistant._id })) return record
    await files.deleteOne({ _id: record._id })
    throw new AppError('not_found', 'There is no such assistant.')
  }

  /** The upload takes effect with the start of the workflow; its first step would show the files, too. */
  async function begin(assistant: AssistantRecord, { ingestionId, files: stored }: Upload): Promise<void> {
    await deps.startIngestion(assistant, { ingestionId, fileIds: stored.map((file) => file._id) })
    await files.updateMany(stillUploading(stored), { $set: { status: 'queued', updated_at: new Date() } })
  }

  async function discard(records: FileRecord[]): Promise<void> {
    await deps.blobs.delete(records.map((record) => record.blob_id))
    await files.deleteMany({ _id: { $in: idsOf(records) } })
  }

  /** Tells the sweep of abandoned uploads that this one is slow, not dead. */
  async function keepAlive(records: FileRecord[]): Promise<void> {
    try {
      await files.updateMany(stillUploading(records), { $set: { updated_at: new Date() } })
    } catch {
      // The next renewal is soon enough.
    }
  }

  return { admit, receive, repeated }
}

async function readToEnd(content: Readable): Promise<void> {
  for await (const piece of content) void piece
}

const idsOf = (records: FileRecord[]) => records.map((record) => record._id)
const stillUploading = (records: FileRecord[]) => ({ _id: { $in: idsOf(records) }, status: 'uploading' as const })

export type Uploads = ReturnType<typeof createUploads>

/** Errors of the caller's connection; the service's own errors are passed on. */
export function brokenOff(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  return new AppError('bad_request', 'The upload was interrupted or is not well-formed multipart/form-data.', { cause })
}

/** An assistant's knowledge is searched by one `retrieval` tool without a configuration. */
function requireFileConfiguration({ tools }: AssistantSettings): void {
  const retrieval = tools.filter((tool) => tool.type === 'retrieval')
  if (retrieval.length > 1) throw invalid('it names the tool retrieval more than once')
  if (Object.keys(retrieval[0]?.config ?? {}).length > 0) throw invalid('its tool retrieval takes no config')
}

function otherFiles(): AppError {
  return invalidInput(['header', 'idempotency-key'], 'was used for other files before', 'idempotency_key_reused')
}

function invalid(reason: string): AppError {
  return new AppError('bad_request', `The configuration of this assistant cannot take files: ${reason}.`)
}
