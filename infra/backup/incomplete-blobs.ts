import type mongoose from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { BlobLocation } from '../mongo/blob-bytes.ts'
import { type BlobDocument, collectionsOf, located } from '../mongo/blob-store.ts'

const blobsAtOnce = 16

/**
 * How many stored files have fewer or more bytes than their length says. `objects`: the object store of the settings;
 * files in another one count as incomplete. Throws `unavailable` if it does not answer.
 */
export async function countIncompleteBlobs(
  connection: mongoose.Connection,
  objects: BlobLocation | undefined,
): Promise<number> {
  const { blobs, pieces } = collectionsOf(connection)

  async function isIncomplete(blob: BlobDocument): Promise<boolean> {
    const { _id, length, chunkSize, parts, store } = blob
    if (parts !== undefined) return (await blobs.countDocuments({ _id: { $in: parts } })) !== parts.length
    // Without a length: an upload that broke off, which the sweep removes.
    if (length === undefined) return false
    if (store === undefined) return (await pieces.countDocuments({ files_id: _id })) !== Math.ceil(length / chunkSize)
    return store !== objects?.name || !(await isWhole(objects, blob, length))
  }

  let incomplete = 0
  let group: Promise<boolean>[] = []
  const counted = async () => (await Promise.all(group)).filter(Boolean).length
  for await (const blob of blobs.find({})) {
    group.push(isIncomplete(blob))
    if (group.length < blobsAtOnce) continue
    incomplete += await counted()
    group = []
  }
  return incomplete + (await counted())
}

/** Whether its last byte is where the length says. */
async function isWhole(objects: BlobLocation, blob: BlobDocument, length: number): Promise<boolean> {
  const wanted = { length, from: Math.max(0, length - 1), chunkSize: blob.chunkSize }
  try {
    await Array.fromAsync(objects.read(located(blob), wanted))
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'internal') return false
    throw error
  }
}
