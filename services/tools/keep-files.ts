import { createHash } from 'node:crypto'
import { type AttachedPart, attachmentLimits } from '../../domain/content-parts.ts'
import { newId } from '../../domain/ids.ts'
import { audioTypeOf, fileTypeOf, imageTypeOf } from '../attachments/content-type.ts'
import { storeAttachments } from '../attachments/receive-content.ts'
import type { Collections } from '../collections.ts'
import type { ResultFile } from '../tool.ts'

const { bytes: fileBytes, allBytes } = attachmentLimits.user
/** Of one result. */
const maxFiles = 16

/** Stores the pictures and files of a tool's result with the thread; what is too large, too many or unknown is left out. */
export async function keepFiles(
  collections: Pick<Collections, 'attachments'>,
  place: { threadId: string; userId: string },
  files: ResultFile[],
): Promise<AttachedPart[]> {
  const parts: AttachedPart[] = []
  let left: number = allBytes
  for (const { name, bytes } of files) {
    const type = typeOf(bytes)
    if (type === undefined || bytes.length > Math.min(fileBytes, left) || parts.length === maxFiles) continue
    left -= bytes.length
    const record = {
      _id: newId(),
      name,
      content_type: type.contentType,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      bytes,
    }
    await storeAttachments(collections, { thread_id: place.threadId, user_id: place.userId, created_at: new Date() }, [
      record,
    ])
    const attached = { attachment_id: record._id, content_type: type.contentType, size: bytes.length }
    if (type.part === 'file') parts.push({ type: 'file', ...attached, name: name || 'file' })
    else if (type.part === 'audio') parts.push({ type: 'audio', ...attached })
    else parts.push({ type: 'image', ...attached, ...(name === '' ? {} : { name }) })
  }
  return parts
}

/** What the bytes are, and not what the tool says of them. */
function typeOf(bytes: Buffer): { part: 'image' | 'audio' | 'file'; contentType: string } | undefined {
  const image = imageTypeOf(bytes)
  if (image !== undefined) return { part: 'image', contentType: image }
  const audio = audioTypeOf(bytes)
  if (audio !== undefined) return { part: 'audio', contentType: audio }
  const file = fileTypeOf(bytes)
  return file === undefined ? undefined : { part: 'file', contentType: file }
}
