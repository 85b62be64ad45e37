import { createHash } from 'node:crypto'
import type mongoose from 'mongoose'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import { reasonOf } from '../../domain/reason-of.ts'
import type { BlobPlace } from './blob-bytes.ts'
import { type BlobDocument, collectionsOf } from './blob-store.ts'
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
 * `left_in` names bytes that a document does not name any more. Readers under way continue at the new place.
 */
export async function moveBlobs(connection: mongoose.Connection, options: MoveOptions): Promise<Moved> {
  const { to, leaseMs } = options
  const { blobs } = collectionsOf(connection)
  const isElsewhere = { parts: { $exists: false }, store: to === 's3' ? { $exists: false } : 's3' } as const
  return withLease(connection, { name: 'blob_move', leaseMs }, async (requireLease) => {
    const move = createMove(connection, options, requireLease)
    const done: Moved = { moved: 0, bytes: 0, gone: 0, failed: 0, left: 0 }
    const due = { length: { $exists: true }, $or: [isElsewhere, { left_in: { $exists: true } }] }
    const pages = pagesById(blobsAtOnce, (after: After<BlobDocument['_id']>, limit) =>
      blobs
        .find({ ...due, ...after })
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
    done.left = await blobs.countDocuments({ $or: [isElsewhere, { left_in: { $exists: true } }] })
    return done
  })
}

/** Moves one blob. */
function createMove(connection: mongoose.Connection, { objects, to }: MoveOptions, requireLease: RequireLease) {
  const { blobs, pieces } = collectionsOf(connection)
  const places = { s3: objects, database: createPiecePlace(pieces) }
  const target = places[to]
  const buffers = createPieceBuffers(target.pieceBytes)
  const placed = ({ _id, metadata }: BlobDocument) => ({ id: _id.toHexString(), owner: metadata?.assistant_id ?? '' })

  async function copy(blob: Stored, source: BlobPlace): Promise<string> {
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

  async function finish(blob: BlobDocument, leftIn: PlaceName): Promise<void> {
    await requireLease()
    await places[leftIn].remove([placed(blob)])
    await blobs.updateOne({ _id: blob._id }, { $unset: { left_in: 1 } })
  }

  return async (blob: Stored): Promise<'moved' | 'gone'> => {
    const { _id, store, left_in: leftIn, length } = blob
    if (blob.metadata === undefined) throw new Error('has no owner: run npm run migrate')
    const from: PlaceName = store ?? 'database'
    if (leftIn !== undefined && leftIn !== from) await finish(blob, leftIn)
    if (from === to) return 'moved'
    const isThere = async () => (await blobs.findOne({ _id }, { projection: { _id: 1 } })) !== null
    try {
      // Of a move that was killed.
      await target.remove([placed(blob)])
      await verify(blob, await copy(blob, places[from]))
      await requireLease()
    } catch (error) {
      if (await isThere()) throw error
      await target.remove([placed(blob)])
      return 'gone'
    }
    const moved = { chunkSize: chunkSizeBytes, left_in: from }
    const { matchedCount } = await blobs.updateOne(
      { _id, length, store: store ?? { $exists: false } },
      to === 's3' ? { $set: { ...moved, store: to } } : { $set: moved, $unset: { store: 1 } },
    )
    if (matchedCount === 0) {
      if (!(await isThere())) await target.remove([placed(blob)])
      return 'gone'
    }
    await finish(blob, from)
    return 'moved'
  }
}
