import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import mongoose from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { BlobStore, StoredBlob } from '../../services/knowledge/blob-store.ts'
import type { BlobLocation, LocatedBlob } from './blob-bytes.ts'
import { createPieceBuffers, inPieces } from './piece-buffers.ts'
import { type Piece, chunkSizeBytes, createPieceLocation, databaseName, missingBytes } from './piece-location.ts'

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
  metadata: { assistant_id: string; part_of?: ObjectId }
  /** Instead of pieces: the blobs with the bytes. */
  parts?: ObjectId[]
  /** The name of the place with the bytes; missing: the database. */
  store?: string
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

/**
 * Uploaded bytes: a document for each blob, as GridFS has it, and the bytes in an object store if there is one, else in
 * GridFS's pieces. What was stored before the settings named an object store stays where it is.
 *
 * Not with the driver's own writer: that writes the document last, so that an interrupted write leaves pieces without
 * an owner.
 */
export function createBlobStore(connection: mongoose.Connection, objects?: BlobLocation): BlobStore {
  const collections = collectionsOf(connection)
  const { blobs, pieces } = collections
  const database = createPieceLocation(pieces)
  const locations = { database, objects }
  const target = objects ?? database
  const buffers = createPieceBuffers(target.pieceBytes)
  const all = { ...collections, locations }

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
        const retained = new Set(parts.map(({ _id }) => _id.toHexString()))
        await remove(
          all,
          ids.filter((id) => !retained.has(id.toHexString())),
        )
      }
    },

    async deleteOf(assistantId) {
      const owned = { 'metadata.assistant_id': assistantId }
      for (;;) {
        // All of its objects at once; afterwards also what an upload stored while its document was removed.
        await objects?.removeOf(assistantId)
        const batch = await blobs
          .find(owned, { projection: { _id: 1 } })
          .limit(blobsAtOnce)
          .toArray()
        if (batch.length === 0) return
        await remove(
          all,
          batch.map(({ _id }) => _id),
          assistantId,
        )
      }
    },

    async countOf(assistantId) {
      let count = await blobs.countDocuments({ 'metadata.assistant_id': assistantId })
      for await (const unnamed of withoutDocument(all, objects?.ofOwner(assistantId))) count += unnamed.length
      return count
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
      yield* remains(all, time)
    },
  }
}

type Blobs = ReturnType<typeof collectionsOf>
type BlobLocations = Blobs & { locations: { database: BlobLocation; objects: BlobLocation | undefined } }

/** Of blobs that were found in a place: those that no document names, in groups. */
async function* withoutDocument<B extends { id: string }>(
  { blobs }: Blobs,
  found: AsyncIterable<B> | undefined,
): AsyncGenerator<B[]> {
  let group = new Map<string, B>()
  const unnamed = async () => {
    const ids = [...group.keys()].map((id) => new ObjectId(id))
    const named = await blobs.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()
    for (const { _id } of named) group.delete(_id.toHexString())
    return [...group.values()]
  }
  for await (const blob of found ?? []) {
    group.set(blob.id, blob)
    if (group.size < blobsAtOnce) continue
    yield await unnamed()
    group = new Map()
  }
  if (group.size > 0) yield await unnamed()
}

/**
 * Bytes that no document names: of an upload that ended after the deletion of its file. An object gets a document, so
 * that it is deleted as every other blob is, by its owner or its id.
 */
async function* remains(all: BlobLocations, time: Date): AsyncGenerator<string> {
  for (const place of [all.locations.database, all.locations.objects]) {
    for await (const unnamed of withoutDocument(all, place?.before(time))) {
      for (const { id, owner } of unnamed) {
        // Another sweep may have been first.
        if (owner !== undefined)
          await all.blobs.updateOne(
            { _id: new ObjectId(id) },
            { $setOnInsert: newDocument({ id, owner }, place) },
            { upsert: true },
          )
        yield id
      }
    }
  }
}

function newDocument({ id, owner }: LocatedBlob, place: BlobLocation | undefined): Omit<BlobDocument, '_id'> {
  return {
    chunkSize: chunkSizeBytes,
    uploadDate: new Date(),
    filename: id,
    metadata: { assistant_id: owner },
    ...(place !== undefined && place.name !== databaseName && { store: place.name }),
  }
}

/** The place that a document names; throws `unavailable` for one that the settings do not name. */
function locationOf({ database, objects }: BlobLocations['locations'], store = databaseName): BlobLocation {
  if (store === database.name) return database
  if (store === objects?.name) return objects
  throw new AppError('unavailable', 'This file is in an object store that BLOBS_URL does not name.')
}

type FoundBlob = Pick<BlobDocument, '_id' | 'length' | 'metadata' | 'store'>

/**
 * Bytes are deleted first, so that the document names the owner as long as there are any. `cleared`: an owner whose
 * objects are gone already.
 */
async function remove(all: BlobLocations, ids: ObjectId[], cleared?: string): Promise<void> {
  const { blobs, pieces, locations } = all
  const members = { parts: 1, length: 1, store: 1, metadata: 1 } as const
  const found = await blobs.find({ _id: { $in: ids } }, { projection: members }).toArray()
  for (const { _id, parts } of found) {
    if (parts === undefined) continue
    const own = await blobs.find({ _id: { $in: parts }, 'metadata.part_of': _id }, { projection: { _id: 1 } }).toArray()
    await remove(
      all,
      own.map((part) => part._id),
      cleared,
    )
  }
  await removeObjects(locations, found, cleared)
  await pieces.deleteMany({ files_id: { $in: ids } })
  await blobs.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } })
}

async function removeObjects(
  locations: BlobLocations['locations'],
  found: FoundBlob[],
  cleared?: string,
): Promise<void> {
  const left = found.filter((blob) => {
    // Some stores list unfinished uploads only for a whole key.
    const isWhole = blob.length !== undefined
    return locationOf(locations, blob.store) === locations.objects && !(isWhole && located(blob).owner === cleared)
  })
  await locations.objects?.remove(left.map(located))
}

export function located({ _id, metadata }: Pick<BlobDocument, '_id' | 'metadata'>): LocatedBlob {
  return { id: _id.toHexString(), owner: metadata?.assistant_id ?? '' }
}

async function writeBlob(
  { blobs }: Blobs,
  { target, buffers }: { target: BlobLocation; buffers: ReturnType<typeof createPieceBuffers> },
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
    const removed = target.remove([blob]).then(() => blobs.deleteOne({ _id }))
    // What cannot be removed now has its document, so that the sweep finds it.
    await removed.catch(() => undefined)
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

async function* bytesOf(all: BlobLocations, blobId: string): AsyncGenerator<Uint8Array> {
  const members = { length: 1, chunkSize: 1, parts: 1, store: 1, metadata: 1 } as const
  const blob = await all.blobs.findOne({ _id: new ObjectId(blobId) }, { projection: members })
  if (blob?.length === undefined) throw missingBytes(blobId)
  const { length, chunkSize, store, parts } = blob
  if (parts === undefined) yield* locationOf(all.locations, store).read(located(blob), { length, from: 0, chunkSize })
  else for (const part of parts) yield* bytesOf(all, part.toHexString())
}
