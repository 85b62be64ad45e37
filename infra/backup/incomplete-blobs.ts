import type mongoose from 'mongoose'

interface Blob {
  length?: number
  chunkSize: number
  parts?: mongoose.mongo.ObjectId[]
  store?: string
}

/** How many stored files have fewer or more pieces than their length says. Those in an object store are not looked at. */
export async function countIncompleteBlobs({ db }: mongoose.Connection): Promise<number> {
  if (!db) throw new Error('the database is not connected')
  const blobs = db.collection<Blob>('blobs.files')
  const pieces = db.collection('blobs.chunks')
  let incomplete = 0
  const projection = { length: 1, chunkSize: 1, parts: 1, store: 1 }
  for await (const { _id, length, chunkSize, parts, store } of blobs.find({}, { projection })) {
    if (parts !== undefined) {
      if ((await blobs.countDocuments({ _id: { $in: parts } })) !== parts.length) incomplete += 1
      continue
    }
    // Without a length: an upload that broke off, which the sweep removes.
    if (length === undefined || store !== undefined) continue
    if ((await pieces.countDocuments({ files_id: _id })) !== Math.ceil(length / chunkSize)) incomplete += 1
  }
  return incomplete
}
