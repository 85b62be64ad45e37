import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import mongoose from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import type { BlobStore, StoredBlob } from '../../services/knowledge/blob-store.ts'
import { createPieceBuffers, inPieces } from './piece-buffers.ts'

const { Binary, ObjectId } = mongoose.mongo
type ObjectId = mongoose.mongo.ObjectId

/** A blob in GridFS's format: a document, and its bytes in numbered pieces. */
interface BlobDocument {
  _id: ObjectId
  /** Missing until all bytes are stored. */
  length?: number
  chunkSize: number
  uploadDate: Date
  filename: string
  /** Missing in blobs of earlier versions until `ownOldBlobs` has processed them. */
  metadata?: { assistant_id: string }
}

interface Piece {
  files_id: ObjectId
  n: number
  data: mongoose.mongo.Binary
}

/** Larger than GridFS's default of 255 KB, because each piece is one acknowledged, journalled write. */
const chunkSizeBytes = 1024 * 1024
const blobsAtOnce = 200

function collectionsOf(connection: mongoose.Connection) {
  const { db } = connection
  if (!db) throw new Error('the database is not connected')
  return { blobs: db.collection<BlobDocument>('blobs.files'), pieces: db.collection<Piece>('blobs.chunks') }
}

/** Makes the collections and their indexes; safe to repeat. */
export async function makeBlobIndexes(connection: mongoose.Connection): Promise<void> {
  const { blobs, pieces } = collectionsOf(connection)
  await blobs.createIndex({ filename: 1, uploadDate: 1 })
  await blobs.createIndex({ 'metadata.assistant_id': 1 })
  await pieces.createIndex({ files_id: 1, n: 1 }, { unique: true })
}

/** Blobs of older versions do not say whose they are; the records of their files do. */
export async function ownOldBlobs(connection: mongoose.Connection): Promise<void> {
  const { blobs } = collectionsOf(connection)
  const files = connection.collection<{ blob_id: string; assistant_id: string }>('files')
  const pages = pagesById(blobsAtOnce, (after: After<ObjectId>, limit) =>
    blobs
      .find({ 'metadata.assistant_id': { $exists: false }, ...after }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray(),
  )
  for await (const batch of pages) {
    const owned = await files.find({ blob_id: { $in: batch.map(({ _id }) => _id.toHexString()) } }).toArray()
    for (const { blob_id: blobId, assistant_id } of owned)
      await blobs.updateOne({ _id: new ObjectId(blobId) }, { $set: { metadata: { assistant_id } } })
  }
}

/**
 * Uploaded bytes in GridFS's format. Not with the driver's own writer: that writes the document last, so that an
 * interrupted write leaves pieces without an owner.
 */
export function createBlobStore(connection: mongoose.Connection): BlobStore {
  const collections = collectionsOf(connection)
  const { blobs, pieces } = collections
  const buffers = createPieceBuffers(chunkSizeBytes)

  return {
    newBlobId: () => new ObjectId().toHexString(),

    write: (blobId, assistantId, source) => writeBlob(collections, buffers, { blobId, assistantId, source }),

    read: (blobId) => Readable.from(piecesOf(collections, blobId), { objectMode: false }),

    async delete(blobIds) {
      for (let start = 0; start < blobIds.length; start += blobsAtOnce) {
        await remove(
          collections,
          blobIds.slice(start, start + blobsAtOnce).map((blobId) => new ObjectId(blobId)),
        )
      }
    },

    async deleteOf(assistantId) {
      for (;;) {
        const owned = { 'metadata.assistant_id': assistantId }
        const batch = await blobs
          .find(owned, { projection: { _id: 1 } })
          .limit(blobsAtOnce)
          .toArray()
        if (batch.length === 0) return
        await remove(
          collections,
          batch.map(({ _id }) => _id),
        )
      }
    },

    countOf: (assistantId) => blobs.countDocuments({ 'metadata.assistant_id': assistantId }),

    async exists(blobId) {
      const id = new ObjectId(blobId)
      const [blob, piece] = await Promise.all([
        blobs.findOne({ _id: id }, { projection: { _id: 1 } }),
        pieces.findOne({ files_id: id }, { projection: { _id: 1 } }),
      ])
      return blob !== null || piece !== null
    },

    async *listBefore(time) {
      const limit = ObjectId.createFromTime(Math.floor(time.getTime() / 1000))
      for await (const { _id } of blobs.find({ _id: { $lt: limit } }, { projection: { _id: 1 } })) yield String(_id)
      // Blobs of earlier versions: the first piece of a blob without a document.
      const firstPieces = pieces.find({ files_id: { $lt: limit }, n: 0 }, { projection: { files_id: 1 } })
      for await (const { files_id: id } of firstPieces) {
        if (!(await blobs.findOne({ _id: id }, { projection: { _id: 1 } }))) yield String(id)
      }
    },
  }
}

type Blobs = ReturnType<typeof collectionsOf>

/** Pieces are deleted first, so that the document names the owner as long as there are pieces. */
async function remove({ blobs, pieces }: Blobs, ids: ObjectId[]): Promise<void> {
  await pieces.deleteMany({ files_id: { $in: ids } })
  await blobs.deleteMany({ _id: { $in: ids } })
}

async function writeBlob(
  collections: Blobs,
  buffers: ReturnType<typeof createPieceBuffers>,
  { blobId, assistantId, source }: { blobId: string; assistantId: string; source: Readable },
): Promise<StoredBlob> {
  const { blobs, pieces } = collections
  const id = new ObjectId(blobId)
  const hash = createHash('sha256')
  const pair = buffers.take()
  let size = 0
  let n = 0
  // One piece is being stored while the next arrives.
  let storing: Promise<unknown> = Promise.resolve()
  try {
    await blobs.insertOne({
      _id: id,
      chunkSize: chunkSizeBytes,
      uploadDate: new Date(),
      filename: blobId,
      metadata: { assistant_id: assistantId },
    })
    for await (const bytes of inPieces(source, pair)) {
      hash.update(bytes)
      size += bytes.length
      await storing
      buffers.noteStored(bytes.length)
      storing = pieces.insertOne({ files_id: id, n: n++, data: new Binary(bytes) })
      storing.catch(() => undefined)
    }
    await storing
    const { matchedCount } = await blobs.updateOne({ _id: id }, { $set: { length: size } })
    if (matchedCount === 0) throw new AppError('not_found', 'The file was deleted during its upload.')
  } catch (error) {
    await storing.catch(() => undefined)
    await remove(collections, [id])
    throw error
  } finally {
    buffers.giveBack(pair)
  }
  return { blobId, size, sha256: hash.digest('hex') }
}

/**
 * One piece after the other, the next one requested while one is used. A cursor over all of them, as GridFS opens
 * it, makes the embedded database hold the whole blob in memory.
 */
async function* piecesOf({ blobs, pieces }: Blobs, blobId: string): AsyncGenerator<Uint8Array> {
  const id = new ObjectId(blobId)
  const blob = await blobs.findOne({ _id: id }, { projection: { length: 1, chunkSize: 1 } })
  if (blob?.length === undefined) throw missingBytes(blobId)
  const count = Math.ceil(blob.length / blob.chunkSize)
  const piece = (n: number) => {
    const reading = n < count ? pieces.findOne({ files_id: id, n }, { projection: { data: 1 } }) : undefined
    // A caller that stops reading never awaits this piece, so its failure must not count as unhandled.
    reading?.catch(() => undefined)
    return reading
  }
  let next = piece(0)
  for (let n = 0; n < count; n++) {
    const bytes = (await next)?.data
    if (!(bytes instanceof Binary)) throw missingBytes(blobId)
    next = piece(n + 1)
    yield bytes.value()
  }
}

/** Retryable: a deletion under way removes the file's record next. */
const missingBytes = (blobId: string) => new AppError('internal', `bytes of blob ${blobId} are missing`)
