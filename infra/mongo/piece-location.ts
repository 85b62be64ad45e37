import mongoose from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { ObjectUpload } from '../../services/object-store.ts'
import type { BlobLocation, BytesWanted, LocatedBlob } from './blob-bytes.ts'

const { Binary, ObjectId } = mongoose.mongo
type ObjectId = mongoose.mongo.ObjectId

export interface Piece {
  files_id: ObjectId
  n: number
  data: mongoose.mongo.Binary
}

/** Larger than GridFS's default of 255 KB, because each piece is one acknowledged, journalled write. */
export const chunkSizeBytes = 1024 * 1024

/** What documents of blobs call the database itself. */
export const databaseName = 'database'

const idsOf = (blobs: LocatedBlob[]) => blobs.map(({ id }) => new ObjectId(id))

/** Bytes in numbered pieces in the database, as GridFS has them. */
export function createPieceLocation(pieces: mongoose.mongo.Collection<Piece>): BlobLocation {
  return {
    name: databaseName,
    pieceBytes: chunkSizeBytes,
    write: ({ id }) => writePieces(pieces, new ObjectId(id)),
    read: ({ id }, wanted) => readPieces(pieces, id, wanted),
    async remove(blobs) {
      await pieces.deleteMany({ files_id: { $in: idsOf(blobs) } })
    },
    async removeOf() {},
    async *ofOwner() {},
    async *before(time) {
      const limit = ObjectId.createFromTime(Math.floor(time.getTime() / 1000))
      // MongoDB reads the index alone. There may be no first piece: an upload that was killed after the deletion of its
      // file has left the later ones.
      const ids = pieces.aggregate<{ _id: ObjectId }>([
        { $match: { files_id: { $lt: limit } } },
        { $sort: { files_id: 1 } },
        { $group: { _id: '$files_id' } },
      ])
      for await (const { _id } of ids) yield { id: _id.toHexString() }
    },
  }
}

/** One piece is being stored while the next arrives. */
function writePieces(pieces: mongoose.mongo.Collection<Piece>, id: ObjectId): ObjectUpload {
  let n = 0
  let storing: Promise<unknown> = Promise.resolve()
  return {
    async add(bytes) {
      await storing
      storing = pieces.insertOne({ files_id: id, n: n++, data: new Binary(bytes) })
      storing.catch(() => undefined)
    },
    async complete() {
      await storing
    },
    async abandon() {
      await storing.catch(() => undefined)
    },
  }
}

/**
 * One piece after the other, the next one requested while one is used. A cursor over all of them, as GridFS opens
 * it, makes the embedded database hold the whole blob in memory.
 */
async function* readPieces(
  pieces: mongoose.mongo.Collection<Piece>,
  id: string,
  { length, from, chunkSize }: BytesWanted,
): AsyncGenerator<Uint8Array> {
  const count = Math.ceil(length / chunkSize)
  const piece = (n: number) => {
    const reading =
      n < count ? pieces.findOne({ files_id: new ObjectId(id), n }, { projection: { data: 1 } }) : undefined
    // A caller that stops reading never awaits this piece, so its failure must not count as unhandled.
    reading?.catch(() => undefined)
    return reading
  }
  const first = Math.floor(from / chunkSize)
  let next = piece(first)
  for (let n = first; n < count; n++) {
    const bytes = (await next)?.data
    if (!(bytes instanceof Binary)) throw missingBytes(id)
    next = piece(n + 1)
    yield n === first ? bytes.value().subarray(from - n * chunkSize) : bytes.value()
  }
}

/** Retryable: a deletion under way removes the file's record next. */
export const missingBytes = (blobId: string) => new AppError('internal', `bytes of blob ${blobId} are missing`)
