import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestService, startService } from '../support/service.ts'

describe('the bytes of uploaded files', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.close())
  const blobs = () => service.api.infra.knowledge.blobs
  const pieces = () => service.api.infra.database.connection.collection('blobs.chunks')

  it.each([0, 1, 1024 * 1024, 2.5 * 1024 * 1024])('come back as they were stored: %d of them', async (size) => {
    const bytes = randomBytes(size)
    const stored = await blobs().write(blobs().newBlobId(), Readable.from([bytes]))
    expect(stored).toMatchObject({ size, sha256: createHash('sha256').update(bytes).digest('hex') })
    const read = await buffer(blobs().read(stored.blobId))
    expect(read.equals(bytes)).toBe(true)
  })

  it('fail to be read when some are missing, or all', async () => {
    const { blobId } = await blobs().write(blobs().newBlobId(), Readable.from([randomBytes(3 * 1024 * 1024)]))
    await pieces().deleteOne({ files_id: new mongoose.Types.ObjectId(blobId), n: 1 })
    await expect(buffer(blobs().read(blobId))).rejects.toThrow(/missing/)
    await expect(buffer(blobs().read(blobs().newBlobId()))).rejects.toThrow(/missing/)
  })
})
