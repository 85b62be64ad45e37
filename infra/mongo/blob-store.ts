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
  metadata?: { assistant_id: string; part_of?: ObjectId }
  /** Instead of pieces: the blobs with the bytes. */
  parts?: ObjectId[]
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

    join: (blobId, assistantId, parts) => joinBlobs(collections, { id: new ObjectId(blobId), assistantId, parts }),

    unjoin: (blobId) => unjoin(collections, new ObjectId(blobId)),

    read: (blobId) => Readable.from(piecesOf(collections, blobId), { objectMode: false }),

    async delete(blobIds) {
      for (let start = 0; start < blobIds.length; start += blobsAtOnce) {
        const ids = blobIds.slice(start, start + blobsAtOnce).map((blobId) => new ObjectId(blobId))
        const parts = await blobs.find({ _id: { $in: ids }, 'metadata.part_of': { $exists: true } }).toArray()
        const kept = new Set(parts.map(({ _id }) => _id.toHexString()))
        await remove(
          collections,
          ids.filter((id) => !kept.has(id.toHexString())),
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
      const whole = { _id: { $lt: limit }, 'metadata.part_of': { $exists: false } }
      for await (const { _id } of blobs.find(whole, { projection: { _id: 1 } })) yield String(_id)
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
  const joined = blobs.find({ _id: { $in: ids }, parts: { $exists: true } }, { projection: { parts: 1 } })
  for await (const { _id, parts = [] } of joined) {
    const own = await blobs.find({ _id: { $in: parts }, 'metadata.part_of': _id }, { projection: { _id: 1 } }).toArray()
    const partIds = own.map((part) => part._id)
    await pieces.deleteMany({ files_id: { $in: partIds } })
    await blobs.deleteMany({ _id: { $in: partIds } })
  }
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

/** The blob that names the parts comes first, so that every marked part can be found from it. */
async function joinBlobs(
  collections: Blobs,
  { id, assistantId, parts }: { id: ObjectId; assistantId: string; parts: { blobId: string; size: number }[] },
): Promise<void> {
  const { blobs } = collections
  const ids = parts.map(({ blobId }) => new ObjectId(blobId))
  await blobs.insertOne({
    _id: id,
    length: parts.reduce((sum, { size }) => sum + size, 0),
    chunkSize: chunkSizeBytes,
    uploadDate: new Date(),
    filename: id.toHexString(),
    metadata: { assistant_id: assistantId },
    parts: ids,
  })
  const free = { _id: { $in: ids }, length: { $exists: true }, 'metadata.part_of': { $exists: false } }
  const { modifiedCount } = await blobs.updateMany(free, { $set: { 'metadata.part_of': id } })
  if (modifiedCount === ids.length) return
  await unjoin(collections, id)
  throw new AppError('conflict', 'The parts of the file are being changed. Try again.')
}

async function unjoin({ blobs }: Blobs, id: ObjectId): Promise<void> {
  const joined = await blobs.findOne({ _id: id }, { projection: { parts: 1 } })
  if (joined === null) return
  const parts = { _id: { $in: joined.parts ?? [] }, 'metadata.part_of': id }
  await blobs.updateMany(parts, { $unset: { 'metadata.part_of': 1 } })
  await blobs.deleteOne({ _id: id })
}

/**
 * One piece after the other, the next one requested while one is used. A cursor over all of them, as GridFS opens
 * it, makes the embedded database hold the whole blob in memory.
 */
async function* piecesOf(collections: Blobs, blobId: string): AsyncGenerator<Uint8Array> {
  const { blobs, pieces } = collections
  const id = new ObjectId(blobId)
  const blob = await blobs.findOne({ _id: id }, { projection: { length: 1, chunkSize: 1, parts: 1 } })
  if (blob?.length === undefined) throw missingBytes(blobId)
  if (blob.parts !== undefined) {
    for (const part of blob.parts) yield* piecesOf(collections, part.toHexString())
    return
  }
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
