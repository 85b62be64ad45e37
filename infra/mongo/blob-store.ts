import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import mongoose from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import type { BlobStore, StoredBlob } from '../../services/knowledge/blob-store.ts'
import type { BlobPlace, PlacedBlob } from './blob-bytes.ts'
import { type Piece, chunkSizeBytes, createPiecePlace, missingBytes } from './piece-place.ts'
import { createPieceBuffers, inPieces } from './piece-buffers.ts'

const { ObjectId } = mongoose.mongo
type ObjectId = mongoose.mongo.ObjectId

/** A blob in GridFS's format: a document, and its bytes in numbered pieces, or in an object store. */
export interface BlobDocument {
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
  /** Where the bytes are; missing: in the pieces. */
  store?: 's3'
  /** A move left bytes here, too, which it removes next. */
  left_in?: 's3' | 'database'
}

const blobsAtOnce = 200

export function collectionsOf(connection: mongoose.Connection) {
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

interface BlobStoreOptions {
  /** Where bytes may be besides the database. */
  objects?: BlobPlace | undefined
  /** Where new bytes go. */
  writeTo?: 'database' | 'objects'
}

/**
 * Uploaded bytes: a document for each blob, as GridFS has it, and the bytes in GridFS's pieces or in an object store.
 * Not with the driver's own writer: that writes the document last, so that an interrupted write leaves pieces without
 * an owner.
 */
export function createBlobStore(
  connection: mongoose.Connection,
  { objects, writeTo = 'objects' }: BlobStoreOptions = {},
): BlobStore {
  const collections = collectionsOf(connection)
  const { blobs, pieces } = collections
  const database = createPiecePlace(pieces)
  const places = { database, objects }
  const target = writeTo === 'objects' && objects !== undefined ? objects : database
  const buffers = createPieceBuffers(target.pieceBytes)
  const all = { ...collections, places }

  return {
    newBlobId: () => new ObjectId().toHexString(),

    write: (blobId, assistantId, source) => writeBlob(all, { target, buffers }, { blobId, assistantId, source }),

    join: (blobId, assistantId, parts) => joinBlobs(all, { id: new ObjectId(blobId), assistantId, parts }),

    unjoin: (blobId) => unjoin(all, new ObjectId(blobId)),

    read: (blobId) => Readable.from(bytesOf(all, blobId), { objectMode: false }),

    async delete(blobIds) {
      for (let start = 0; start < blobIds.length; start += blobsAtOnce) {
        const ids = blobIds.slice(start, start + blobsAtOnce).map((blobId) => new ObjectId(blobId))
        const parts = await blobs.find({ _id: { $in: ids }, 'metadata.part_of': { $exists: true } }).toArray()
        const kept = new Set(parts.map(({ _id }) => _id.toHexString()))
        await remove(
          all,
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
        if (batch.length === 0) break
        await remove(
          all,
          batch.map(({ _id }) => _id),
        )
      }
      // What an upload stored whose document was removed meanwhile.
      await objects?.removeOf(assistantId)
    },

    async countOf(assistantId) {
      const counted = await blobs.countDocuments({ 'metadata.assistant_id': assistantId })
      const unnamed = new Set<string>()
      for await (const { id } of objects?.ofOwner(assistantId) ?? [])
        if (!(await blobs.findOne({ _id: new ObjectId(id) }, { projection: { _id: 1 } }))) unnamed.add(id)
      return counted + unnamed.size
    },

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
      yield* withoutDocument(all, time)
    },
  }
}

type Blobs = ReturnType<typeof collectionsOf>
type Places = Blobs & { places: { database: BlobPlace; objects: BlobPlace | undefined } }

/**
 * Bytes that no document names: of earlier versions, or of an upload that ended after the deletion of its file. An
 * object gets a document, so that it is deleted as every other blob is, by its owner or its id.
 */
async function* withoutDocument({ blobs, places }: Places, time: Date): AsyncGenerator<string> {
  for (const place of [places.database, places.objects]) {
    for await (const { id, owner } of place?.before(time) ?? []) {
      const _id = new ObjectId(id)
      if (await blobs.findOne({ _id }, { projection: { _id: 1 } })) continue
      if (owner !== undefined) {
        const document = newDocument({ id, owner }, place)
        // Another sweep may have been first.
        await blobs.updateOne({ _id }, { $setOnInsert: document }, { upsert: true })
      }
      yield id
    }
  }
}

function newDocument({ id, owner }: PlacedBlob, place: BlobPlace | undefined): Omit<BlobDocument, '_id'> {
  return {
    chunkSize: chunkSizeBytes,
    uploadDate: new Date(),
    filename: id,
    metadata: { assistant_id: owner },
    ...(place?.mark !== undefined && { store: place.mark }),
  }
}

/** The place that a document names. */
function placeOf({ places }: Places, { store }: Pick<BlobDocument, 'store'>): BlobPlace {
  if (store === undefined) return places.database
  if (places.objects !== undefined) return places.objects
  throw withoutStore()
}

const withoutStore = () => new AppError('unavailable', 'This file is in an object store, and BLOBS_URL is not set.')

type FoundBlob = Pick<BlobDocument, '_id' | 'metadata' | 'store' | 'parts'>

/** Bytes are deleted first, so that the document names the owner as long as there are any. */
async function remove({ blobs, places }: Places, ids: ObjectId[]): Promise<void> {
  const members = { parts: 1, store: 1, metadata: 1 } as const
  const found = await blobs.find({ _id: { $in: ids } }, { projection: members }).toArray()
  for (const { _id, parts } of found) {
    if (parts === undefined) continue
    const own = await blobs.find({ _id: { $in: parts }, 'metadata.part_of': _id }, { projection: members }).toArray()
    await removeBytes(places, own)
    await blobs.deleteMany({ _id: { $in: own.map((part) => part._id) } })
  }
  await removeBytes(places, found)
  // Without a document: the remains of earlier versions, in the database only.
  await places.database.remove(ids.map((id) => ({ id: id.toHexString(), owner: '' })))
  await blobs.deleteMany({ _id: { $in: ids } })
}

/** In every place: a move that was interrupted leaves bytes in both. */
async function removeBytes(places: Places['places'], found: FoundBlob[]): Promise<void> {
  if (places.objects === undefined && found.some(({ store }) => store !== undefined)) throw withoutStore()
  await places.database.remove(found.map(({ _id }) => ({ id: _id.toHexString(), owner: '' })))
  const owned = found.flatMap(({ _id, metadata, parts }) =>
    metadata === undefined || parts !== undefined ? [] : [{ id: _id.toHexString(), owner: metadata.assistant_id }],
  )
  await places.objects?.remove(owned)
}

async function writeBlob(
  { blobs, places }: Places,
  { target, buffers }: { target: BlobPlace; buffers: ReturnType<typeof createPieceBuffers> },
  { blobId, assistantId, source }: { blobId: string; assistantId: string; source: Readable },
): Promise<StoredBlob> {
  const _id = new ObjectId(blobId)
  const blob = { id: blobId, owner: assistantId }
  const hash = createHash('sha256')
  const pair = buffers.take()
  let size = 0
  await blobs.insertOne({ _id, ...newDocument(blob, target) })
  const writer = target.write(blob)
  try {
    for await (const bytes of inPieces(source, pair)) {
      hash.update(bytes)
      size += bytes.length
      await writer.add(bytes)
      buffers.noteStored(bytes.length)
    }
    await writer.complete()
    const { matchedCount } = await blobs.updateOne({ _id }, { $set: { length: size } })
    if (matchedCount === 0) throw new AppError('not_found', 'The file was deleted during its upload.')
  } catch (error) {
    await writer.abandon()
    await removeBytes(places, [{ _id, ...newDocument(blob, target) }])
    await blobs.deleteOne({ _id })
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

/** When bytes are missing, they may have been moved meanwhile: then the rest is read from where they are now. */
async function* bytesOf(all: Places, blobId: string): AsyncGenerator<Uint8Array> {
  const members = { length: 1, chunkSize: 1, parts: 1, store: 1, metadata: 1 } as const
  const find = () => all.blobs.findOne({ _id: new ObjectId(blobId) }, { projection: members })
  let at = 0
  for (let blob = await find(); ;) {
    if (blob?.length === undefined) throw missingBytes(blobId)
    const { length, chunkSize, store, parts, metadata } = blob
    if (parts !== undefined) {
      for (const part of parts) yield* bytesOf(all, part.toHexString())
      return
    }
    try {
      const placed = { id: blobId, owner: metadata?.assistant_id ?? '' }
      for await (const bytes of placeOf(all, { store }).read(placed, { length, from: at, chunkSize })) {
        at += bytes.length
        yield bytes
      }
      return
    } catch (error) {
      blob = await find()
      if (blob === null || blob.store === store) throw error
    }
  }
}
