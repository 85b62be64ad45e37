import type { Readable } from 'node:stream'
import { type AppError, invalidInput } from '../../domain/errors.ts'
import { requestLimits } from '../../domain/limits.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { BlobStore } from './blob-store.ts'
import type { StartIngestion } from './start-ingestion.ts'
import type { StorageQuota } from './storage-quota.ts'
import { type Upload, type UploadPart, brokenOff } from './upload.ts'
import type { UploadRecords } from './upload-records.ts'

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
