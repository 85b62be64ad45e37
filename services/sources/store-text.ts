import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type FileRecord, unprocessed } from '../../domain/records/file.ts'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import { addressName } from '../../domain/sources/addresses.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import { parentsRemain } from '../parents.ts'
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

/** Where a file is to be processed. */
export interface Place {
  ingestionId: string
  order: number
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
  { ingestionId, order }: Place,
): Promise<FileRecord> {
  const { files, assistants, sourcePages } = collections
  await storageQuota.requireRoom(source.user_id, text.body.length)
  const now = new Date()
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
    status: 'uploading',
    ...unprocessed,
    created_at: now,
    updated_at: now,
  }
  // First the page, so that the sweep of the source's files finds none that no page names.
  await sourcePages.updateOne(
    { _id: page._id, round: source.round },
    {
      $set: {
        next_file_id: record._id,
        status: 'processing',
        sha256: record.sha256,
        fetched_at: now,
        ...(text.title === undefined ? {} : { title: text.title }),
        ...(text.etag === undefined ? {} : { etag: text.etag }),
        ...(text.lastModified === undefined ? {} : { last_modified: text.lastModified }),
      },
      $unset: {
        reason: 1,
        ...(text.etag === undefined ? { etag: 1 } : {}),
        ...(text.lastModified === undefined ? { last_modified: 1 } : {}),
      },
    },
  )
  await assistants.updateOne({ _id: source.assistant_id, has_files: { $ne: true } }, { $set: { has_files: true } })
  await files.create([record])
  if (!(await remains(collections, source))) {
    await files.deleteOne({ _id: record._id })
    throw new AppError('not_found', 'The source is being deleted.')
  }
  await blobs.write(record.blob_id, source.assistant_id, Readable.from([text.body]))
  const { matchedCount } = await files.updateOne(
    { _id: record._id, status: 'uploading' },
    { $set: { status: 'queued' } },
  )
  if (matchedCount > 0) return record
  await blobs.delete([record.blob_id])
  throw new AppError('not_found', 'The source is being deleted.')
}

async function remains(collections: SourceCollections, source: SourceRecord): Promise<boolean> {
  const [assistant, own] = await Promise.all([
    collections.assistants.findById(source.assistant_id, { project_id: 1 }).lean<{ project_id: string }>(),
    collections.sources.exists({ _id: source._id, deleting: { $ne: true } }),
  ])
  if (assistant === null || own === null) return false
  return parentsRemain(collections, { project_id: assistant.project_id, assistant_id: source.assistant_id })
}
