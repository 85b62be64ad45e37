import { fileStore } from '../stores/files.ts'
import { createHash } from 'node:crypto'
import { type AppError, invalidInput } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { KnowledgeCollections } from './collections.ts'
import { firstFiles } from './files.ts'
import type { Upload, UploadPart } from './upload.ts'

/**
 * The earlier upload of this ingestion, if it began and `parts` are the same files; they are read and not stored.
 * Null if it did not begin. Throws `invalid_input` for other files.
 */
export async function repeatedUpload(
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
