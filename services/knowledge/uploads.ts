import { Value } from 'typebox/value'
import type { AssistantSettings } from '../../domain/assistant-config.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Collections } from '../collections.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { noEmbeddingModel } from './embedder.ts'
import { receiveUpload } from './receive-upload.ts'
import { RetrievalConfig } from './retrieval-config.ts'
import type { StartIngestion } from './start-ingestion.ts'
import type { StorageQuota } from './storage-quota.ts'
import type { Upload, UploadPart } from './upload.ts'
import { createUploadRecords } from './upload-records.ts'
import type { VectorStore } from './vector-store.ts'
import { fileStore } from '../stores/files.ts'
import { createHash } from 'node:crypto'
import type { FileRecord } from '../../domain/records/file.ts'
import { firstFiles } from './files.ts'

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
