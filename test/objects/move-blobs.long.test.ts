import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countIncompleteBlobs } from '../../infra/backup/incomplete-blobs.ts'
import { moveBlobs, renameStore } from '../../infra/mongo/move-blobs.ts'
import { createObjectPlace } from '../../infra/objects/object-place.ts'
import { eventually } from '../support/eventually.ts'
import { inForm } from '../support/long-form.ts'
import { startTestObjectStore } from '../support/object-store.ts'
import { plainEnv } from '../support/plain-env.ts'
import { type TestService, startService } from '../support/service.ts'

const MiB = 1024 * 1024
const sizes = [0, 10, MiB, 3.5 * MiB, 12 * MiB]
const boundaries = inForm({ long: [1, 2, 3, 4, 5, 6, 7, 8], short: [2, 3, 4] })

describe('bytes of files that are moved', () => {
  let service: TestService
  let server: Awaited<ReturnType<typeof startTestObjectStore>>
  const written = new Map<string, string>()
  beforeAll(async () => {
    server = await startTestObjectStore()
    service = await startService({ worker: false, env: { ...server.envOf('versioned'), BLOBS_WRITE_TO: 'database' } })
    for (const size of sizes) {
      const { blobId, sha256 } = await write(randomBytes(size))
      written.set(blobId, sha256)
    }
    const halves = [randomBytes(2 * MiB), randomBytes(MiB)]
    const parts = await Promise.all(halves.map(write))
    const joined = blobs().newBlobId()
    await blobs().join(joined, 'owner', parts)
    written.set(joined, createHash('sha256').update(Buffer.concat(halves)).digest('hex'))
  })
  afterAll(async () => {
    await service.close()
    await server.close()
  })
  const blobs = () => service.api.infra.knowledge.blobs
  const write = (bytes: Buffer) => blobs().write(blobs().newBlobId(), 'owner', Readable.from([bytes]))
  const pieces = () => service.api.infra.database.connection.collection('blobs.chunks').countDocuments()
  const inBucket = async () => (await Array.fromAsync(server.storeOf('versioned').everything(''))).length

  async function expectAllReadable(): Promise<void> {
    for (const [blobId, sha256] of written) {
      const read = await buffer(blobs().read(blobId))
      expect(createHash('sha256').update(read).digest('hex')).toBe(sha256)
    }
  }

  /** Without a boundary: the command itself. */
  async function mover(to: 's3' | 'database', killAt?: number) {
    const root = path.join(import.meta.dirname, '../..')
    const command =
      killAt === undefined
        ? [path.join(root, 'scripts/move-blobs.ts'), '--to', to]
        : [path.join(root, 'test/support/killed-mover.ts'), to, String(killAt)]
    const child = spawn(process.execPath, command, {
      env: { ...plainEnv(), ...service.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    return { code: Number(code), signal: String(signal), output }
  }

  /** Uploads files and deletes every second one, until it is stopped. */
  function churn() {
    let isStopped = false
    const work = async () => {
      while (!isStopped) {
        const [kept, deleted] = await Promise.all([write(randomBytes(5000)), write(randomBytes(5000))])
        written.set(kept.blobId, kept.sha256)
        await pause(2000)
        await blobs().delete([deleted.blobId])
      }
    }
    const done = work()
    return async () => {
      isStopped = true
      await done
    }
  }

  it.each(['s3', 'database'] as const)(
    'to %s are whole after a kill at every boundary, while files come and go',
    async (to) => {
      const stopChurn = churn()
      let killed = 0
      for (const killAt of boundaries) {
        // The lease of the one before must run out.
        const { signal } = await eventually('a mover', async () => {
          const ended = await mover(to, killAt)
          return ended.code !== 1 && ended
        })
        if (signal === 'SIGKILL') killed += 1
        await expectAllReadable()
      }
      expect(killed).toBeGreaterThan(boundaries.length / 2)
      await stopChurn()
      const last = await eventually('the last', async () => {
        const ended = await mover(to)
        return ended.code === 0 && ended
      })
      expect(JSON.parse(last.output)).toMatchObject({ failed: 0, left: 0 })
      await expectAllReadable()
      expect(await (to === 's3' ? pieces() : inBucket())).toBe(0)
    },
    300_000,
  )

  it('are counted as incomplete when an object is gone, or is in a bucket that the settings do not name', async () => {
    const { connection } = service.api.infra.database
    const objects = createObjectPlace(server.storeOf('versioned'))
    await moveBlobs(connection, { objects, to: 's3', log: () => undefined })
    expect(await countIncompleteBlobs(connection, objects)).toBe(0)
    const [blobId = ''] = written.keys()
    await write(randomBytes(10)).then(async (added) => {
      await moveBlobs(connection, { objects, to: 's3', log: () => undefined })
      await objects.remove([{ id: added.blobId, owner: 'owner' }])
      expect(await countIncompleteBlobs(connection, objects)).toBe(1)
      await blobs().delete([added.blobId])
    })
    const plain = createObjectPlace(server.storeOf('plain'))
    expect(await renameStore(connection, objects.name, plain)).toEqual({ renamed: written.size + 1 })
    await expect(blobs().delete([blobId])).rejects.toMatchObject({ code: 'unavailable' })
    expect(await countIncompleteBlobs(connection, objects)).toBeGreaterThan(0)
    await renameStore(connection, plain.name, objects)
    await expectAllReadable()
  }, 60_000)

  it('are read to their end by who began before, and a deletion meanwhile leaves nothing', async () => {
    const bytes = randomBytes(8 * MiB)
    const { blobId } = await write(bytes)
    const reading = blobs().read(blobId)
    const first = await reading.iterator({ destroyOnReturn: false }).next()
    const deleted = await write(randomBytes(6 * MiB))
    const place = createObjectPlace(server.storeOf('versioned'))
    const objects = {
      ...place,
      write(blob: Parameters<typeof place.write>[0]) {
        const writer = place.write(blob)
        const complete = async () => {
          if (blob.id === deleted.blobId) await blobs().delete([blob.id])
          await writer.complete()
        }
        return { ...writer, complete }
      },
    }
    const move = (to: 's3' | 'database') =>
      moveBlobs(service.api.infra.database.connection, { objects, to, log: () => undefined })
    expect(await move('s3')).toMatchObject({ gone: 1, failed: 0, left: 0 })
    const whole = Buffer.concat([first.value, await buffer(reading)])
    expect(whole.equals(bytes)).toBe(true)
    expect(await blobs().exists(deleted.blobId)).toBe(false)
    await blobs().deleteOf('owner')
    expect([await pieces(), await inBucket()]).toEqual([0, 0])
  }, 60_000)
})
