import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type FileRecord, newFile } from '../../domain/records/file.ts'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import { addressName } from '../../domain/sources/addresses.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import type { IngestionPosition } from '../knowledge/ingestion-of.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import { parentsRemain } from '../parents.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'
import type { SourceCollections } from './source-pages.ts'

export interface StoreTextDeps {
  collections: SourceCollections
  blobs: Pick<BlobStore, 'newBlobId' | 'write' | 'delete'>
  storageQuota: Pick<StorageQuota, 'requireRoom'>
}

export interface PageText {
  /** From where it was read, after redirects. */
  url: string
  title: string | undefined
  contentType: string
  body: Buffer
  etag: string | undefined
  lastModified: string | undefined
}

export const hashOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex')

/**
 * Stores the text of a page as a file, which the ingestion of the batch reads and embeds as any other. Throws
 * `payload_too_large` if its owner may not store it, and `not_found` if the source or its assistant is being deleted.
 */
export async function storeText(
  { collections, blobs, storageQuota }: StoreTextDeps,
  source: SourceRecord,
  page: SourcePageRecord,
  text: PageText,
  { ingestionId, order }: IngestionPosition,
): Promise<FileRecord> {
  const files = fileStore(collections)
  await storageQuota.requireRoom(source.user_id, text.body.length)
  const record: FileRecord = {
    _id: newId(),
    assistant_id: source.assistant_id,
    web: {
      source_id: source._id,
      page_id: page._id,
      url: text.url,
      ...(text.title === undefined ? {} : { title: text.title }),
    },
    user_id: source.user_id,
    ingestion_id: ingestionId,
    order,
    name: addressName(text.url),
    content_type: text.contentType,
    size: text.body.length,
    sha256: hashOf(text.body),
    blob_id: blobs.newBlobId(),
    ...newFile(new Date()),
  }
  // First the page, so that the sweep of the source's files finds none that no page names.
  await sourcePageStore(collections).noteText(page, {
    next_file_id: record._id,
    sha256: record.sha256,
    ...(text.title === undefined ? {} : { title: text.title }),
    ...(text.etag === undefined ? {} : { etag: text.etag }),
    ...(text.lastModified === undefined ? {} : { last_modified: text.lastModified }),
  })
  await assistantStore(collections).noteHasFiles(source.assistant_id)
  await files.add(record)
  if (!(await remains(collections, source))) {
    await files.remove(record)
    throw new AppError('not_found', 'The source is being deleted.')
  }
  await blobs.write(record.blob_id, source.assistant_id, Readable.from([text.body]))
  if (await files.queue(record)) return record
  await blobs.delete([record.blob_id])
  throw new AppError('not_found', 'The source is being deleted.')
}

async function remains(collections: SourceCollections, source: SourceRecord): Promise<boolean> {
  const [assistant, own] = await Promise.all([
    assistantStore(collections).findLocationOfAny(source.assistant_id),
    sourceStore(collections).isPresentOfAny(source._id),
  ])
  if (assistant === null || !own) return false
  return parentsRemain(collections, { project_id: assistant.project_id, assistant_id: source.assistant_id })
}
