import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import mongoose from 'mongoose'
import { describe, expect, it, vi } from 'vitest'
import { createBlobStore } from '../../infra/mongo/blob-store.ts'
import { createPieceBuffers, inPieces } from '../../infra/mongo/piece-buffers.ts'
import { serviceEnv } from '../support/service.ts'

describe('the pieces of an upload', () => {
  it('hold the same bytes however these arrive, while the next piece is filled', async () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(parts, fc.integer({ min: 1, max: 16 }), async (given, pieceBytes) => {
        const pair: [Buffer, Buffer] = [Buffer.alloc(pieceBytes), Buffer.alloc(pieceBytes)]
        const stored: Buffer[] = []
        // As in an upload: a piece is read when the next one is complete.
        let storing: Buffer | undefined
        for await (const piece of inPieces(Readable.from(given), pair)) {
          if (storing) stored.push(Buffer.from(storing))
          storing = piece
        }
        if (storing) stored.push(Buffer.from(storing))
        expect(Buffer.concat(stored)).toEqual(Buffer.concat(given))
        for (const piece of stored.slice(0, -1)) expect(piece).toHaveLength(pieceBytes)
      }),
    )
  })

  it('of many uploads at once do not mix, also when some break off', async () => {
    const connection = await mongoose.createConnection(serviceEnv()['MONGODB_URI'] ?? '').asPromise()
    try {
      const blobs = createBlobStore(connection)
      const arriving = function* (bytes: Buffer, end: number) {
        for (let at = 0; at < end; at += 70_000) yield bytes.subarray(at, at + 70_000)
        if (end < bytes.length) throw new Error('broken off')
      }
      const write = (blobId: string, bytes: Buffer, end = bytes.length) =>
        blobs.write(blobId, 'assistant', Readable.from(arriving(bytes, end)))
      const store = async (bytes: Buffer) => {
        const blobId = blobs.newBlobId()
        const { sha256 } = await write(blobId, bytes)
        expect(sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
        expect((await buffer(blobs.read(blobId))).equals(bytes)).toBe(true)
        await blobs.delete([blobId])
      }
      const breakOff = (bytes: Buffer) =>
        expect(write(blobs.newBlobId(), bytes, bytes.length / 2)).rejects.toThrow('broken off')
      await Promise.all(
        Array.from({ length: 12 }, (_, index) => {
          const bytes = randomBytes(200_000 * (index + 1))
          return index % 4 === 3 ? breakOff(bytes) : store(bytes)
        }),
      )
    } finally {
      await connection.close()
    }
  })

  it('use the same memory one after the other, and have V8 collect the rest every 8 MB', () => {
    const collect = vi.fn<(options: object) => void>()
    vi.stubGlobal('gc', collect)
    try {
      const buffers = createPieceBuffers(4)
      const pair = buffers.take()
      expect(buffers.take()).not.toBe(pair)
      buffers.giveBack(pair)
      expect(buffers.take()).toBe(pair)
      for (let piece = 0; piece < 20; piece++) buffers.noteStored(1024 * 1024)
      expect(collect.mock.calls).toEqual([[{ type: 'minor' }], [{ type: 'minor' }]])
    } finally {
      vi.unstubAllGlobals()
    }
  })
})
