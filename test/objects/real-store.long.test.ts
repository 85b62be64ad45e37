import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { ObjectStore } from '../../services/object-store.ts'
import { apiClient } from '../support/api-client.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { inForm } from '../support/long-form.ts'
import { useModelService } from '../support/model-service.ts'
import { startTestObjectStore } from '../support/object-store.ts'
import { startApiProcess } from '../support/processes.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { insertUser } from '../support/users.ts'

const MiB = 1024 * 1024
const server = await startTestObjectStore()
const proxy = await startTcpProxy(new URL(server.endpoint).host)
afterAll(async () => {
  await proxy.close()
  await server.close()
})

async function store(objects: ObjectStore, key: string, bytes: Buffer): Promise<void> {
  const upload = objects.upload(key)
  for (let at = 0; at < bytes.length; at += objects.pieceBytes)
    await upload.add(bytes.subarray(at, at + objects.pieceBytes))
  await upload.complete()
}

async function keysUnder(objects: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of objects.everything(prefix)) keys.push(key)
  return keys
}

describe.each(['plain', 'versioned'])('objects in a bucket that is %s', (bucket) => {
  const objects = server.storeOf(bucket)

  it.each([1, 5 * MiB, 12.5 * MiB])('are read as they were stored: %d bytes', async (size) => {
    const bytes = randomBytes(size)
    await store(objects, `sizes/${size}`, bytes)
    expect((await buffer(objects.read(`sizes/${size}`, size))).equals(bytes)).toBe(true)
    const from = Math.floor(size / 2)
    expect((await buffer(objects.read(`sizes/${size}`, size, from))).equals(bytes.subarray(from))).toBe(true)
    await expect(buffer(objects.read(`sizes/${size}`, size + 1))).rejects.toThrow('missing')
  })

  it('are removed with every version, every marker and every unfinished upload, and nothing beside them', async () => {
    await store(objects, 'removed/one', randomBytes(10))
    await store(objects, 'removed/one', randomBytes(20))
    await store(objects, 'removed-not/one', randomBytes(10))
    const unfinished = objects.upload('removed/one')
    for (let part = 0; part < 3; part++) await unfinished.add(randomBytes(objects.pieceBytes))
    await unfinished.abandon()
    const found = await keysUnder(objects, 'removed/')
    expect(new Set(found)).toEqual(new Set(['removed/one']))
    // The object, or both of its versions, and the upload.
    expect(found).toHaveLength(bucket === 'plain' ? 2 : 3)
    await objects.remove('removed/')
    expect(await keysUnder(objects, 'removed/')).toEqual([])
    expect(await keysUnder(objects, 'removed-not/')).toEqual(['removed-not/one'])
  })

  it('are stored and read with a clock that is an hour ahead', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    try {
      const bytes = randomBytes(10)
      const ahead = server.storeOf(bucket)
      await store(ahead, 'ahead/one', bytes)
      expect((await buffer(ahead.read('ahead/one', 10))).equals(bytes)).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })

  it('are refused when they are removed during their upload', async () => {
    const upload = objects.upload('gone/one')
    for (let part = 0; part < 2; part++) await upload.add(randomBytes(objects.pieceBytes))
    await eventually('the upload', async () => (await keysUnder(objects, 'gone/')).length > 0)
    await objects.remove('gone/')
    const rest = async () => {
      await upload.add(randomBytes(10))
      await upload.complete()
    }
    // A part that is being stored while its upload is removed may meet a store that does not answer for it.
    const refused = await rest().catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: expect.stringMatching(/^(not_found|unavailable)$/) })
    await objects.remove('gone/')
    expect(await keysUnder(objects, 'gone/')).toEqual([])
  })
})

describe('files in a bucket', () => {
  const service = useModelService({
    env: {
      EMBEDDING_DIMENSIONS: '32',
      ...server.envOf('versioned', `http://${proxy.address}`),
      LANCEDB_URI: server.urlOf('plain'),
    },
  })
  const objects = server.storeOf('versioned')
  const blobs = () => service.api.infra.knowledge.blobs
  const pieces = () => service.api.infra.database.connection.collection('blobs.chunks').countDocuments()
  const text = 'The lighthouse has two hundred and seven steps. '.repeat(2000)
  async function uploaded() {
    const client = await knowledgeClient(await insertUser(service))
    const { status, body } = await client.upload([{ name: 'steps.txt', content: text }])
    expect(status).toBe(200)
    expect(body.files[0].metadata.status).toBe('ready')
    return { client, fileId: String(body.files[0].id) }
  }

  it('are ingested, quoted and returned from there, and gone from it when their assistant is deleted', async () => {
    const { client, fileId } = await uploaded()
    const folder = `blobs/${client.assistantId}/`
    const files = `/assistants/${client.assistantId}/files`
    expect(await keysUnder(objects, folder)).toHaveLength(1)
    expect(await pieces()).toBe(0)
    const { passages } = await client.post(`${files}/search`, { query: 'How many steps has the lighthouse?' })
    expect(passages[0]).toMatchObject({ file_id: fileId, text: expect.stringContaining('two hundred and seven') })
    expect((await client.call('GET', `${files}/${fileId}/content`)).text).toBe(text)
    const { body } = await client.call('DELETE', `/assistants/${client.assistantId}`)
    const receipt = await eventually('the receipt', async () => {
      const found = await client.call('GET', `/receipts/${body.receipt_id}`)
      return found.body.status === 'complete' && found.body
    })
    expect(receipt).toMatchObject({ found: { blobs: 1 }, left: { blobs: 0 } })
    expect(await keysUnder(objects, folder)).toEqual([])
  })

  it('leave nothing behind when their upload breaks off', async () => {
    const broken = async function* () {
      yield randomBytes(12 * MiB)
      // The stream asks for more before these bytes are sent.
      await eventually('the upload', async () => (await keysUnder(objects, 'blobs/broken/')).length === 1)
      throw new Error('the client has gone')
    }
    const id = blobs().newBlobId()
    await expect(blobs().write(id, 'broken', Readable.from(broken()))).rejects.toThrow('the client has gone')
    expect(await keysUnder(objects, 'blobs/broken/')).toEqual([])
    expect(await blobs().exists(id)).toBe(false)
  })

  it('leave what the sweep finds when the process that receives them is killed', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const api = await startApiProcess(service.env)
    const head = '--b\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    const endless = async function* () {
      yield Buffer.concat([Buffer.from(head), randomBytes(12 * MiB)])
      await new Promise(() => undefined)
    }
    const uploading = fetch(`${api.url}/assistants/${client.assistantId}/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: Readable.toWeb(Readable.from(endless())) as ReadableStream,
      duplex: 'half',
    } as RequestInit).catch(() => 'broken')
    const folder = `blobs/${client.assistantId}/`
    await eventually('the upload', async () => (await keysUnder(objects, folder)).length > 0)
    await api.kill()
    expect(await uploading).toBe('broken')
    expect(await keysUnder(objects, folder)).toHaveLength(1)
    const [key = ''] = await keysUnder(objects, folder)
    const begun = await Array.fromAsync(blobs().listBefore(new Date(Date.now() + 60_000)))
    expect(begun).toContain(key.slice(folder.length))
    await blobs().delete(begun)
    expect(await keysUnder(objects, folder)).toEqual([])
  })

  it('are counted and swept when an upload ends after the deletion of its file', async () => {
    const id = blobs().newBlobId()
    await store(objects, `blobs/project=3Alate/${id}`, randomBytes(10))
    expect(await blobs().countOf('project:late')).toBe(1)
    const found = await Array.fromAsync(blobs().listBefore(new Date(Date.now() + 60_000)))
    expect(found).toContain(id)
    await blobs().delete([id])
    expect(await blobs().countOf('project:late')).toBe(0)
    await store(objects, `blobs/project=3Alate/${id}`, randomBytes(10))
    await blobs().deleteOf('project:late')
    expect(await blobs().countOf('project:late')).toBe(0)
  })

  it('are read and written over connections that are cut, with a few pieces in memory', async () => {
    const size = inForm({ long: 400, short: 40 }) * MiB
    const sent = createHash('sha256')
    let cuts = 0
    // Of the bytes that are in use. The second collection waits until what the first has found is freed.
    const bytesInUse = () => {
      collectGarbage()
      collectGarbage()
      return process.memoryUsage().arrayBuffers
    }
    const before = bytesInUse()
    let most = 0
    const source = async function* () {
      for (let at = 0; at < size; at += MiB) {
        const bytes = randomBytes(MiB)
        sent.update(bytes)
        if ((at / MiB) % 15 === 10) {
          proxy.cut()
          cuts += 1
        }
        if ((at / MiB) % 5 === 3) most = Math.max(most, bytesInUse())
        yield bytes
      }
    }
    const stored = await blobs().write(blobs().newBlobId(), 'large', Readable.from(source()))
    expect(stored).toMatchObject({ size, sha256: sent.digest('hex') })
    const read = createHash('sha256')
    let count = 0
    for await (const bytes of blobs().read(stored.blobId)) {
      read.update(bytes)
      if (++count % 100 === 0) most = Math.max(most, bytesInUse())
      if (count % 500 !== 100) continue
      proxy.cut()
      cuts += 1
    }
    expect(read.digest('hex')).toBe(stored.sha256)
    expect(cuts).toBeGreaterThan(1)
    // A piece that is sent, one that is filled, and what arrives.
    expect((most - before) / MiB).toBeLessThan(20)
    expect(most).toBeGreaterThan(before)
    await blobs().deleteOf('large')
    expect(await keysUnder(objects, 'blobs/large/')).toEqual([])
  })

  it('are refused with 503 while the store is away, which /ok names, and other requests work', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const state = async () => (await apiClient(service.url).call('GET', '/ok')).body.dependencies.objects
    expect(await state()).toEqual({ status: 'ok' })
    proxy.refuse()
    const refused = await client.upload([{ name: 'away.txt', content: text }])
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await eventually('the state', async () => (await state()).status === 'down' && state())).toMatchObject({
      status: 'down',
    })
    expect((await client.list()).body.files).toEqual([])
    expect((await apiClient(service.url).call('GET', '/ready')).status).toBe(200)
    proxy.restore()
    expect((await client.upload([{ name: 'back.txt', content: text }])).status).toBe(200)
  })
})
