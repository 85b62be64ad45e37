import { createHash, randomBytes } from 'node:crypto'
import { type OpenAI, toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import { createExpiry } from '../../services/retention/index.ts'
import { useSharedService } from '../support/shared-service.ts'
import { clientWith, refusalOf, v1Client } from './v1-client.ts'

const hour = 3_600_000
const bytes = randomBytes(700_000)

describe('uploads in parts of /v1', () => {
  const service = useSharedService()

  const begin = (client: OpenAI, more: Partial<OpenAI.UploadCreateParams> = {}) =>
    client.uploads.create({
      bytes: bytes.length,
      filename: 'big.bin',
      mime_type: 'application/octet-stream',
      purpose: 'assistants',
      ...more,
    })
  const partOf = async (client: OpenAI, id: string, from: number, to?: number) =>
    (await client.uploads.parts.create(id, { data: await toFile(bytes.subarray(from, to), 'part') })).id
  const recordsOf = (projectId: string) =>
    service.collections.files.countDocuments({ assistant_id: projectOwner(projectId) })
  const blobsOf = (projectId: string) => service.api.infra.knowledge.blobs.countOf(projectOwner(projectId))
  const refused = async (request: PromiseLike<unknown>) => {
    const { status, param } = await refusalOf(request)
    return [status, param]
  }

  it('make the file of their parts in the order that is asked for', async () => {
    const { client, owner } = await v1Client(service)
    const upload = await begin(client, { expires_after: { anchor: 'created_at', seconds: 7200 } })
    expect(upload).toMatchObject({ object: 'upload', status: 'pending', bytes: bytes.length, filename: 'big.bin' })
    expect(upload.expires_at).toBe(upload.created_at + 3600)
    // The second part comes first, and once more because its answer seemed to be lost.
    const last = await partOf(client, upload.id, 300_000)
    const first = await partOf(client, upload.id, 0, 300_000)
    const again = await partOf(client, upload.id, 300_000)
    expect((await client.files.list()).data).toEqual([])
    expect(await refused(client.files.retrieve(upload.id))).toEqual([404, null])

    const complete = (part_ids: string[], md5?: string) =>
      client.uploads.complete(upload.id, { part_ids, ...(md5 === undefined ? {} : { md5 }) })
    expect(await refused(complete([first]))).toEqual([400, 'part_ids'])
    expect(await refused(complete([first, first]))).toEqual([400, 'part_ids'])
    expect(await refused(complete([first, 'unknown']))).toEqual([400, 'part_ids[1]'])
    expect(await refused(complete([first, last], '0'.repeat(32)))).toEqual([400, 'md5'])
    const md5 = createHash('md5').update(bytes).digest('hex')
    const pieces = () => service.collections.files.db.collection('blobs.chunks')
    const before = await pieces().countDocuments()
    // A completion that was killed after it had joined the parts, some minutes ago.
    const blobs = service.api.infra.knowledge.blobs
    const killed = blobs.newBlobId()
    const parts = await service.collections.files.find({ _id: { $in: [first, again] } }).lean()
    await blobs.join(
      killed,
      projectOwner(owner.projectId),
      parts.map(({ blob_id: blobId, size }) => ({ blobId, size })),
    )
    const claimed = { blob_id: killed, 'upload.claimed_at': new Date(Date.now() - 6 * 60_000) }
    await service.collections.files.updateOne({ _id: upload.id }, { $set: claimed })
    const done = await complete([first, again], md5)
    expect(await pieces().countDocuments()).toBe(before - 1)
    expect(done).toMatchObject({ id: upload.id, status: 'completed' })
    expect(done.file).toMatchObject({ object: 'file', bytes: bytes.length, filename: 'big.bin', purpose: 'assistants' })
    expect((done.file?.expires_at ?? 0) - (done.file?.created_at ?? 0)).toBe(7200)
    const fileId = done.file?.id ?? ''
    expect(Buffer.from(await (await client.files.content(fileId)).arrayBuffer()).equals(bytes)).toBe(true)
    expect(await complete([first, again])).toEqual(done)
    expect((await client.files.list()).data).toEqual([done.file])
    // The file, and the two parts whose bytes it has.
    expect([await recordsOf(owner.projectId), await blobsOf(owner.projectId)]).toEqual([1, 3])
    for (const { blob_id: part } of parts) await blobs.delete([part])
    const unowned = await Array.fromAsync(blobs.listBefore(new Date(Date.now() + hour)))
    expect(unowned).not.toEqual(expect.arrayContaining(parts.map(({ blob_id: part }) => part)))
    expect(Buffer.from(await (await client.files.content(fileId)).arrayBuffer()).equals(bytes)).toBe(true)
    expect((await refused(client.uploads.cancel(upload.id)))[0]).toBe(400)
    expect((await refused(partOf(client, upload.id, 0, 10)))[0]).toBe(400)
    await client.files.delete(fileId)
    expect([await recordsOf(owner.projectId), await blobsOf(owner.projectId)]).toEqual([0, 0])
  })

  it('leave nothing when they are cancelled', async () => {
    const { client, owner } = await v1Client(service)
    const { id } = await begin(client)
    await partOf(client, id, 0, 1000)
    expect(await client.uploads.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    expect([await recordsOf(owner.projectId), await blobsOf(owner.projectId)]).toEqual([0, 0])
    expect((await refused(client.uploads.complete(id, { part_ids: ['x'] })))[0]).toBe(404)
    expect((await refused(partOf(client, id, 0, 10)))[0]).toBe(404)
    expect(await blobsOf(owner.projectId)).toBe(0)
  })

  it('expire after an hour with their parts', async () => {
    const { client, owner } = await v1Client(service)
    const { id } = await begin(client)
    await partOf(client, id, 0, 1000)
    const round = (afterMs: number) => service.api.platform.retention(() => Date.now() + afterMs)
    await round(hour - 60_000)
    expect([await recordsOf(owner.projectId), await blobsOf(owner.projectId)]).toEqual([2, 1])
    await round(hour + 1000)
    expect([await recordsOf(owner.projectId), await blobsOf(owner.projectId)]).toEqual([0, 0])
    expect((await refused(partOf(client, id, 0, 10)))[0]).toBe(404)
  })

  it('keep their bytes when they are completed in their last moment', async () => {
    const { client } = await v1Client(service)
    const { id } = await begin(client)
    const part = await partOf(client, id, 0)
    const { files } = service.collections
    const deleted: string[] = []
    // The retention has read what is over, and the client completes it before anything is removed.
    const afterReading = {
      find: (...asked: Parameters<typeof files.find>) => ({
        limit: (most: number) => ({
          lean: async () => {
            const due = await files
              .find(...asked)
              .limit(most)
              .lean()
            if (due.some(({ _id }) => _id === id)) await client.uploads.complete(id, { part_ids: [part] })
            return due
          },
        }),
      }),
    }
    const expiry = createExpiry({
      collections: {
        ...service.collections,
        files: new Proxy(files, { get: (whole, name) => Reflect.get(name === 'find' ? afterReading : whole, name) }),
      },
      workflows: { start: async () => undefined },
      blobs: { delete: async (ids) => void deleted.push(...ids) },
    })
    const parts = await files.find({ _id: { $in: [id, part] } }).lean()
    await expiry.files(new Date(Date.now() + hour + 1000), 200)
    expect(parts).toHaveLength(2)
    expect(deleted.filter((blob) => parts.some(({ blob_id: own }) => own === blob))).toEqual([])
    expect(Buffer.from(await (await client.files.content(id)).arrayBuffer()).equals(bytes)).toBe(true)
  })

  it('are bounded, and of one project', async () => {
    const { client, owner } = await v1Client(service)
    expect(await refused(begin(client, { bytes: 0 }))).toEqual([400, 'bytes'])
    expect(await refused(begin(client, { bytes: 8 * 1024 ** 3 + 1 }))).toEqual([400, 'bytes'])
    expect(await refused(begin(client, { purpose: 'other' as OpenAI.FilePurpose }))).toEqual([400, 'purpose'])
    const { id } = await begin(client, { bytes: 10 })
    const { project_id: other } = await owner.post('/projects/', { name: 'Other' })
    const { jwt_token: token } = await owner.get(`/projects/${String(other)}`)
    const second = clientWith(service, String(token))
    expect((await refused(partOf(second, id, 0, 10)))[0]).toBe(404)
    expect((await refused(second.uploads.cancel(id)))[0]).toBe(404)
    // Twice the announced size is for parts that are sent again.
    expect((await refused(partOf(client, id, 0, 21)))[0]).toBe(400)
    await partOf(client, id, 0, 15)
    const last = await Promise.allSettled([
      partOf(client, id, 0, 5),
      partOf(client, id, 0, 5),
      partOf(client, id, 0, 5),
    ])
    expect(last.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1)
    expect((await refused(partOf(client, id, 0, 10)))[0]).toBe(400)
    await service.collections.users.updateOne({ _id: owner.userId }, { $set: { storage_max_mb: 1 } })
    expect((await refused(begin(client, { bytes: 2 * 1024 ** 2 })))[0]).toBe(413)
    const { id: third } = await begin(client, { bytes: 600_000 })
    await partOf(client, third, 0, 600_000)
    expect((await refused(partOf(client, third, 0, 600_000)))[0]).toBe(413)
    const there = (await service.collections.files.find({ user_id: owner.userId }).lean()).filter(
      ({ size }) => size > 0,
    )
    expect(await blobsOf(owner.projectId)).toBe(there.length)
  })

  it('take the announced bytes of the storage quota from their beginning', async () => {
    const { client, owner } = await v1Client(service)
    await service.collections.users.updateOne({ _id: owner.userId }, { $set: { storage_max_mb: 1 } })
    const first = await begin(client, { bytes: 600_000 })
    expect(await refused(begin(client, { bytes: 600_000 }))).toEqual([413, null])
    expect((await owner.get('/user/usage')).storage_bytes).toBe(600_000)
    const bystander = await v1Client(service)
    await service.collections.users.updateOne({ _id: bystander.owner.userId }, { $set: { storage_max_mb: 1 } })
    const begun = await Promise.allSettled(Array.from({ length: 5 }, () => begin(bystander.client, { bytes: 400_000 })))
    expect(begun.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(2)
    // Its own parts may take what was announced.
    const part = await partOf(client, first.id, 0, 600_000)
    expect((await client.uploads.complete(first.id, { part_ids: [part] })).status).toBe('completed')
    await client.uploads.cancel((await begin(client, { bytes: 400_000 })).id)
    expect((await owner.get('/user/usage')).storage_bytes).toBe(600_000)
  })
})
