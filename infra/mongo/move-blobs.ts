import { createHash } from 'node:crypto'
import type mongoose from 'mongoose'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import { reasonOf } from '../../domain/reason-of.ts'
import type { BlobPlace } from './blob-bytes.ts'
import { type BlobDocument, collectionsOf, placeOf, placed } from './blob-store.ts'
import { type RequireLease, withLease } from './lease.ts'
import { createPieceBuffers, inPieces } from './piece-buffers.ts'
import { chunkSizeBytes, createPiecePlace } from './piece-place.ts'

type PlaceName = 's3' | 'database'

interface MoveOptions {
  objects: BlobPlace
  to: PlaceName
  log(message: string): void
  leaseMs?: number
}

export interface Moved {
  moved: number
  bytes: number
  /** Deleted meanwhile. */
  gone: number
  failed: number
  /** Not at the target now: what failed, and uploads under way. */
  left: number
}

const blobsAtOnce = 100
type Stored = BlobDocument & { length: number }

/**
 * Moves the bytes of all blobs while the service runs; one process at a time. A copy is read back and compared before
 * the blob's document names it, and only then the old bytes go. What a killed move left is finished by the next one:
 * `also_in` names the place where such bytes may be. Readers under way continue at the new place.
 */
export async function moveBlobs(connection: mongoose.Connection, options: MoveOptions): Promise<Moved> {
  const { objects, to, leaseMs } = options
  const { blobs } = collectionsOf(connection)
  const isElsewhere = { parts: { $exists: false }, store: to === 's3' ? { $ne: objects.name } : { $exists: true } }
  const isDue = { $or: [isElsewhere, { also_in: { $exists: true } }] }
  return withLease(connection, { name: 'blob_move', leaseMs }, async (requireLease) => {
    const move = createMove(connection, options, requireLease)
    const done: Moved = { moved: 0, bytes: 0, gone: 0, failed: 0, left: 0 }
    const pages = pagesById(blobsAtOnce, (after: After<BlobDocument['_id']>, limit) =>
      blobs
        .find({ ...isDue, length: { $exists: true }, ...after })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    )
    for await (const page of pages) {
      for (const { length, ...blob } of page) {
        if (length === undefined) continue
        await requireLease()
        const outcome = await move({ ...blob, length }).catch((error: unknown) => {
          options.log(`${blob._id.toHexString()}: ${reasonOf(error)}`)
          return 'failed' as const
        })
        done[outcome] += 1
        if (outcome === 'moved') done.bytes += length
      }
      options.log(`${done.moved} moved (${done.bytes} bytes), ${done.gone} gone, ${done.failed} failed`)
    }
    done.left = await blobs.countDocuments(isDue)
    return done
  })
}

/** For a bucket that was copied as a whole: the blobs of `formerName` are in `objects` from now on. */
export async function renameStore(
  connection: mongoose.Connection,
  formerName: string,
  { name }: Pick<BlobPlace, 'name'>,
): Promise<{ renamed: number }> {
  const { blobs } = collectionsOf(connection)
  await blobs.updateMany({ also_in: formerName }, { $set: { also_in: name } })
  const { modifiedCount } = await blobs.updateMany({ store: formerName }, { $set: { store: name } })
  return { renamed: modifiedCount }
}

/** Moves one blob. */
function createMove(connection: mongoose.Connection, { objects, to }: MoveOptions, requireLease: RequireLease) {
  const { blobs, pieces } = collectionsOf(connection)
  const database = createPiecePlace(pieces)
  const places = { database, objects }
  const [source, target] = to === 's3' ? [database, objects] : [objects, database]
  const buffers = createPieceBuffers(target.pieceBytes)

  async function copy(blob: Stored): Promise<string> {
    const { length, chunkSize } = blob
    const hash = createHash('sha256')
    const pair = buffers.take()
    const writer = target.write(placed(blob))
    try {
      for await (const bytes of inPieces(source.read(placed(blob), { length, from: 0, chunkSize }), pair)) {
        hash.update(bytes)
        await writer.add(bytes)
        buffers.noteStored(bytes.length)
      }
      await writer.complete()
      return hash.digest('hex')
    } finally {
      await writer.abandon()
      buffers.giveBack(pair)
    }
  }

  async function verify(blob: Stored, sha256: string): Promise<void> {
    const hash = createHash('sha256')
    let size = 0
    const wanted = { length: blob.length, from: 0, chunkSize: chunkSizeBytes }
    for await (const bytes of target.read(placed(blob), wanted)) {
      hash.update(bytes)
      size += bytes.length
    }
    if (size !== blob.length || hash.digest('hex') !== sha256) throw new Error('the copy differs from the original')
  }

  const isThere = async ({ _id }: Stored) => (await blobs.findOne({ _id }, { projection: { _id: 1 } })) !== null

  /** Removes what a move that was killed left beside the bytes that the document names. */
  async function clear(blob: Stored, name: string): Promise<void> {
    await requireLease()
    await placeOf(places, name).remove([placed(blob)])
    await blobs.updateOne({ _id: blob._id }, { $unset: { also_in: 1 } })
  }

  return async (blob: Stored): Promise<'moved' | 'gone'> => {
    if (blob.metadata === undefined) throw new Error('has no owner: run npm run migrate')
    const { _id, store } = blob
    if (blob.also_in !== undefined) await clear(blob, blob.also_in)
    if (placeOf(places, store) === target) return 'moved'
    await blobs.updateOne({ _id }, { $set: { also_in: target.name } })
    try {
      await verify(blob, await copy(blob))
      await requireLease()
      const unmoved = { _id, store: store ?? { $exists: false }, also_in: target.name }
      const moved = { chunkSize: chunkSizeBytes, also_in: source.name }
      const { matchedCount } = await blobs.updateOne(
        unmoved,
        to === 's3' ? { $set: { ...moved, store: target.name } } : { $set: moved, $unset: { store: 1 } },
      )
      if (matchedCount === 0) throw new Error('another process has changed its document')
    } catch (error) {
      if (await isThere(blob)) throw error
      await target.remove([placed(blob)])
      return 'gone'
    }
    await clear(blob, source.name)
    return 'moved'
  }
}
