import { createHash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import mongoose from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { BlobStore } from '../../services/knowledge/blob-store.ts'

const { Binary, GridFSBucket, ObjectId } = mongoose.mongo

/** Larger pieces than GridFS's own 255 KB: each is an acknowledged, journalled write of its own. */
const chunkSizeBytes = 1024 * 1024
const bucketName = 'blobs'

/**
 * Makes the collections and the indexes of GridFS; safe to repeat. The driver would make them with the
 * first upload, between open transactions, where the local stand-in for MongoDB was seen to stand still.
 */
export async function prepareBlobStore(connection: mongoose.Connection): Promise<void> {
  await connection.collection(`${bucketName}.files`).createIndex({ filename: 1, uploadDate: 1 })
  await connection.collection(`${bucketName}.chunks`).createIndex({ files_id: 1, n: 1 }, { unique: true })
}

/** Uploaded bytes in GridFS. */
export function createBlobStore(connection: mongoose.Connection): BlobStore {
  const { db } = connection
  if (!db) throw new Error('the database is not connected')
  const bucket = new GridFSBucket(db, { bucketName, chunkSizeBytes })
  const files = db.collection(`${bucketName}.files`)
  const chunks = db.collection(`${bucketName}.chunks`)

  /** Without a look at whether the file is there: what an unfinished write left has no file record. */
  async function remove(blobId: string): Promise<void> {
    const id = new ObjectId(blobId)
    await files.deleteOne({ _id: id })
    await chunks.deleteMany({ files_id: id })
  }

  /**
   * One piece after the other, the next one on its way while one is used. A cursor over all of them,
   * as GridFS opens it, lets the embedded database hold the whole blob in memory.
   */
  async function* piecesOf(blobId: string): AsyncGenerator<Uint8Array> {
    const id = new ObjectId(blobId)
    const file = await files.findOne({ _id: id }, { projection: { length: 1, chunkSize: 1 } })
    if (!file) throw missingBytes(blobId)
    const count = Math.ceil(Number(file['length']) / Number(file['chunkSize']))
    const piece = (n: number) => {
      const reading = n < count ? chunks.findOne({ files_id: id, n }, { projection: { data: 1 } }) : undefined
      // Whoever stops reading no longer waits for it.
      reading?.catch(() => undefined)
      return reading
    }
    let next = piece(0)
    for (let n = 0; n < count; n++) {
      const bytes: unknown = (await next)?.['data']
      if (!(bytes instanceof Binary)) throw missingBytes(blobId)
      next = piece(n + 1)
      yield bytes.value()
    }
  }

  return {
    newBlobId: () => new ObjectId().toHexString(),

    async write(blobId, source) {
      const hash = createHash('sha256')
      let size = 0
      const measure = new Transform({
        transform(bytes: Buffer, _encoding, done) {
          hash.update(bytes)
          size += bytes.length
          done(null, bytes)
        },
      })
      const target = bucket.openUploadStreamWithId(new ObjectId(blobId), blobId)
      try {
        await pipeline(source, measure, target)
      } catch (error) {
        await target.abort().catch(() => undefined)
        await remove(blobId)
        throw error
      }
      return { blobId, size, sha256: hash.digest('hex') }
    },

    read: (blobId) => Readable.from(piecesOf(blobId), { objectMode: false }),

    delete: remove,

    async count(blobIds) {
      let found = 0
      for (const blobId of blobIds) {
        const id = new ObjectId(blobId)
        const [file, chunk] = await Promise.all([
          files.findOne({ _id: id }, { projection: { _id: 1 } }),
          chunks.findOne({ files_id: id }, { projection: { _id: 1 } }),
        ])
        if (file ?? chunk) found++
      }
      return found
    },

    async *listBefore(time) {
      const limit = ObjectId.createFromTime(Math.floor(time.getTime() / 1000))
      for await (const file of files.find({ _id: { $lt: limit } }, { projection: { _id: 1 } })) yield String(file._id)
      // Unfinished writes: the first piece of a blob that has no file record.
      const firstPieces = chunks.find({ files_id: { $lt: limit }, n: 0 }, { projection: { files_id: 1 } })
      for await (const piece of firstPieces) {
        const id: unknown = piece['files_id']
        if (!(id instanceof ObjectId)) continue
        if (!(await files.findOne({ _id: id }, { projection: { _id: 1 } }))) yield id.toHexString()
      }
    },
  }
}

/** May be tried again: a deletion that is under way takes the owner's record away next. */
const missingBytes = (blobId: string) => new AppError('internal', `bytes of blob ${blobId} are missing`)
