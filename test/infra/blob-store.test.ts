import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import mongoose from 'mongoose'
import { describe, expect, it } from 'vitest'
import { countIncompleteBlobs } from '../../infra/backup/incomplete-blobs.ts'
import type { BlobLocation } from '../../infra/mongo/blob-bytes.ts'
import { createBlobStore } from '../../infra/mongo/blob-store.ts'
import { missingBytes } from '../../infra/mongo/piece-location.ts'
import { commandsDuring } from '../support/commands.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'

describe('the bytes of uploaded files', () => {
  const service = useStarted(() => startService({ worker: false }))
  const blobs = () => service.api.infra.knowledge.blobs
  const pieces = () => service.api.infra.database.connection.collection('blobs.chunks')

  it.each([0, 1, 1024 * 1024, 2.5 * 1024 * 1024])('are returned as stored: %d bytes', async (size) => {
    const bytes = randomBytes(size)
    const stored = await blobs().write(blobs().newBlobId(), 'assistant', Readable.from([bytes]))
    expect(stored).toMatchObject({ size, sha256: createHash('sha256').update(bytes).digest('hex') })
    const read = await buffer(blobs().read(stored.blobId))
    expect(read.equals(bytes)).toBe(true)
  })

  it('cannot be read when some or all are missing', async () => {
    const { blobId } = await blobs().write(
      blobs().newBlobId(),
      'assistant',
      Readable.from([randomBytes(3 * 1024 * 1024)]),
    )
    await pieces().deleteOne({ files_id: new mongoose.Types.ObjectId(blobId), n: 1 })
    await expect(buffer(blobs().read(blobId))).rejects.toThrow(/missing/)
    await expect(buffer(blobs().read(blobs().newBlobId()))).rejects.toThrow(/missing/)
  })

  const documents = () => service.api.infra.database.connection.collection('blobs.files')
  const broken = () =>
    Readable.from(
      (async function* () {
        yield randomBytes(3 * 1024 * 1024)
        expect(await blobs().countOf('broken')).toBe(1)
        throw new Error('the client has gone')
      })(),
    )

  it('have an owner from the first byte on, and are removed when the upload is interrupted', async () => {
    const before = await pieces().countDocuments()
    const blobId = blobs().newBlobId()
    await expect(blobs().write(blobId, 'broken', broken())).rejects.toThrow('the client has gone')
    expect(await blobs().countOf('broken')).toBe(0)
    expect(await blobs().exists(blobId)).toBe(false)
    expect(await pieces().countDocuments()).toBe(before)
  })

  it('are refused when their file is deleted while they are written', async () => {
    const blobId = blobs().newBlobId()
    const source = Readable.from(
      (async function* () {
        yield randomBytes(2 * 1024 * 1024)
        await blobs().deleteOf('deleted')
        yield randomBytes(2 * 1024 * 1024)
      })(),
    )
    await expect(blobs().write(blobId, 'deleted', source)).rejects.toThrow('deleted during its upload')
    expect(await blobs().exists(blobId)).toBe(false)
  })

  it('of many files are deleted with a constant number of statements', async () => {
    const write = (owner: string) =>
      blobs().write(blobs().newBlobId(), owner, Readable.from([Buffer.from('some bytes')]))
    for (let index = 0; index < 40; index++) await write('many')
    await write('one')
    const kept = await write('kept')
    const statementsOf = async (work: () => Promise<unknown>) => {
      const commands = await commandsDuring([service.api.infra.database.connection], work)
      // Sweeps of the service may look at other collections meanwhile.
      return commands.filter(({ name, command }) => String(command[name]).startsWith('blobs.')).length
    }
    const few = await statementsOf(() => blobs().deleteOf('one'))
    expect(few).toBeGreaterThan(1)
    expect(await statementsOf(() => blobs().deleteOf('many'))).toBe(few)
    expect(await blobs().countOf('many')).toBe(0)
    expect(await blobs().exists(kept.blobId)).toBe(true)
  })

  it('are found by the sweep when the last of them came after the deletion of the first', async () => {
    const id = new mongoose.Types.ObjectId()
    const late = [5, 6].map((n) => ({ files_id: id, n, data: new mongoose.mongo.Binary(randomBytes(10)) }))
    await pieces().insertMany(late)
    const found = await Array.fromAsync(blobs().listBefore(new Date(Date.now() + 60_000)))
    expect(found.filter((blobId) => blobId === id.toHexString())).toHaveLength(1)
    await blobs().delete([id.toHexString()])
    expect(await blobs().exists(id.toHexString())).toBe(false)
    expect(await Array.fromAsync(blobs().listBefore(new Date(Date.now() - 3_600_000)))).toEqual([])
  })

  it('are removed one by one when an owner is deleted whose uploads may be unfinished', async () => {
    const { connection } = service.api.infra.database
    const { removed, place } = placeInMemory()
    const inMemory = createBlobStore(connection, place)
    const [whole, unfinished] = await Promise.all(
      ['whole', 'broken off'].map(async (bytes) => {
        const { blobId } = await inMemory.write(blobs().newBlobId(), 'unfinished', Readable.from([Buffer.from(bytes)]))
        return new mongoose.Types.ObjectId(blobId)
      }),
    )
    await documents().updateOne({ _id: unfinished }, { $unset: { length: 1 } })
    await inMemory.deleteOf('unfinished')
    expect(removed).toContain(String(unfinished))
    expect(removed).not.toContain(String(whole))
  })

  it('are counted as incomplete when an object is gone, or is in a bucket that the settings do not name', async () => {
    const { connection } = service.api.infra.database
    const { kept, place } = placeInMemory()
    const other = { ...place, name: 's3://other/' }
    const inMemory = createBlobStore(connection, place)
    const { blobId } = await inMemory.write(inMemory.newBlobId(), 'counted', Readable.from([Buffer.from('bytes')]))
    const before = await countIncompleteBlobs(connection, place)
    expect(await countIncompleteBlobs(connection, other)).toBe(before + 1)
    await expect(createBlobStore(connection, other).delete([blobId])).rejects.toMatchObject({ code: 'unavailable' })
    kept.clear()
    expect(await countIncompleteBlobs(connection, place)).toBe(before + 1)
    await inMemory.deleteOf('counted')
    expect(await countIncompleteBlobs(connection, place)).toBe(before)
  })
})

/** A place whose objects are `kept`; `removed`: the ids that were removed by name. */
function placeInMemory() {
  const kept = new Map<string, Buffer>()
  const removed: string[] = []
  const place: BlobLocation = {
    name: 's3://memory/',
    pieceBytes: 1024 * 1024,
    write({ id }) {
      const pieces: Buffer[] = []
      return {
        add: async (bytes) => void pieces.push(Buffer.from(bytes)),
        complete: async () => void kept.set(id, Buffer.concat(pieces)),
        abandon: async () => {},
      }
    },
    async *read({ id }, { from }) {
      const bytes = kept.get(id)
      if (bytes === undefined) throw missingBytes(id)
      yield bytes.subarray(from)
    },
    async remove(blobs) {
      for (const { id } of blobs) {
        kept.delete(id)
        removed.push(id)
      }
    },
    removeOf: async () => kept.clear(),
    async *ofOwner() {},
    async *before() {},
  }
  return { kept, removed, place }
}
