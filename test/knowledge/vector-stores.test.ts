import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type Table, makeArrowTable } from '@lancedb/lancedb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '../../domain/errors.ts'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import { wordsOnlyEmbedder } from '../../infra/built-in-model/embedder.ts'
import { createVectorStore } from '../../infra/vectors/index.ts'
import { toColumns } from '../../infra/vectors/lance-rows.ts'
import { createLanceTables, textIndexName } from '../../infra/vectors/lance-tables.ts'
import { createLanceStore } from '../../infra/vectors/lancedb.ts'
import { createPineconeStore } from '../../infra/vectors/pinecone.ts'
import { createQdrantStore } from '../../infra/vectors/qdrant.ts'
import { embedByHashing } from '../../local/demo-model/embed.ts'
import type { VectorRecord, VectorStore } from '../../services/knowledge/vector-store.ts'
import { createAuthority } from '../support/certificates.ts'
import { listenOnLoopback, sendJson, startHttpServer } from '../support/http-server.ts'
import { startPineconeServer } from '../support/pinecone-server.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import { startQdrantServer } from '../support/qdrant-server.ts'

const dimension = 64
const vectorOf = (text: string) => embedByHashing(text, dimension)

function record(fileId: string, position: number, text: string): VectorRecord {
  return { id: `${fileId}:${position}`, fileId, position, text, vector: vectorOf(text) }
}

/** A table with one file, which grows by lines. */
function growingFile(uri: string) {
  const store = createLanceStore(uri)
  let rows = 0
  return {
    store,
    written: () => rows,
    async write(count: number) {
      const records = Array.from({ length: count }, (_, index) => record('f1', rows + index, `line ${rows + index}`))
      rows += count
      await store.upsert('a', records, { areNew: true })
    },
  }
}

const harbour = [
  record('f1', 0, 'The steamer Amalia carried 412 passengers across the strait.'),
  record('f1', 1, 'The dredging of the western basin cost 73,500 marks.'),
  record('f2', 0, 'Timber came from Riga, coal from Silesia.'),
]

let folder: string
let pinecone: Awaited<ReturnType<typeof startPineconeServer>>
let qdrant: Awaited<ReturnType<typeof startQdrantServer>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vectors-'))
  pinecone = await startPineconeServer({ apiKey: 'secret', dimension })
  qdrant = await startQdrantServer({ apiKey: 'secret' })
}, installTimeoutMs)
afterAll(async () => {
  await pinecone.close()
  await qdrant.close()
  await rm(folder, { recursive: true, force: true })
})

const makers: [string, () => VectorStore][] = [
  ['lancedb', () => createLanceStore(join(folder, 'lance'))],
  ['pinecone', () => createPineconeStore({ apiKey: 'secret', host: pinecone.url })],
  ['qdrant', () => createQdrantStore({ apiKey: 'secret', url: qdrant.url, collection: 'shared' })],
]

describe.each(makers)('the vector store %s', (_name, make) => {
  let store: VectorStore
  let assistantId: string
  beforeAll(() => {
    store = make()
  })
  afterAll(() => store.close())

  const filled = async () => {
    assistantId = randomUUID()
    await store.upsert(assistantId, harbour)
    return assistantId
  }

  it('finds near vectors, of one assistant only', async () => {
    const id = await filled()
    await store.upsert(randomUUID(), [record('other', 0, harbour[1]?.text ?? '')])
    const question = 'What did the dredging of the western basin cost?'
    const found = await store.search(id, { vector: vectorOf(question), text: question, limit: 2 })
    expect(found[0]).toMatchObject({ id: 'f1:1', fileId: 'f1' })
    for (const { id: match, score } of found) {
      expect(match).not.toBe('other:0')
      expect(score).toBeGreaterThanOrEqual(0)
      expect(score).toBeLessThanOrEqual(1)
    }
    expect(found.length).toBe(2)
  })

  it('keeps one record for each id, however often it is stored', async () => {
    const id = await filled()
    await store.upsert(id, harbour)
    await store.upsert(id, [record('f1', 0, 'The Amalia was scrapped.'), record('f1', 2, 'New.')])
    expect(await store.count(id)).toBe(4)
    expect(await store.count(id, 'f1')).toBe(3)
    const [best] = await store.search(id, { vector: vectorOf('Amalia scrapped'), text: 'Amalia scrapped', limit: 1 })
    expect(best?.id).toBe('f1:0')
  })

  it('deletes a file and an assistant, also repeatedly', async () => {
    const id = await filled()
    await store.deleteFile(id, 'f1')
    await store.deleteFile(id, 'f1')
    expect(await store.count(id, 'f1')).toBe(0)
    expect(await store.listFiles(id)).toEqual(['f2'])
    expect(await store.listSpaces()).toContain(id)
    await store.deleteSpace(id)
    await store.deleteSpace(id)
    expect(await store.count(id)).toBe(0)
    expect(await store.listSpaces()).not.toContain(id)
    expect(await store.search(id, { vector: vectorOf('x'), text: 'x', limit: 3 })).toEqual([])
    await store.upsert(id, harbour)
    expect(await store.count(id)).toBe(3)
  })

  it.each(['plain', 'With Capitals_and~more'])('keeps the spaces of an assistant apart (%s)', async (kind) => {
    const id = kind === 'plain' ? randomUUID() : `A.1_${randomUUID()}`
    const [first, second] = [vectorSpace(id), vectorSpace(id, 12)]
    expect(await store.spacesOf(id)).toEqual([first])
    await store.upsert(first, harbour)
    await store.upsert(second, [record('f1', 0, 'The dredging of the eastern basin.')])
    await store.upsert(`${id}2`, harbour)
    expect((await store.spacesOf(id)).toSorted()).toEqual([first, second])
    expect(await store.listSpaces()).toEqual(expect.arrayContaining([first, second]))
    expect([await store.count(first), await store.count(second)]).toEqual([3, 1])
    const question = { vector: vectorOf('dredging basin'), text: 'dredging basin', limit: 5 }
    expect((await store.search(second, question)).map((match) => match.id)).toEqual(['f1:0'])
    await store.deleteSpace(first)
    expect([await store.count(first), await store.count(second)]).toEqual([0, 1])
    await store.deleteSpace(second)
    expect(await store.spacesOf(id)).toEqual([first])
    expect(await store.count(`${id}2`)).toBe(3)
  })

  it('deletes a file of many chunks and no other file', async () => {
    const id = randomUUID()
    const many = Array.from({ length: 1250 }, (_, position) => record('f1', position, `Line ${position} of the log.`))
    await store.upsert(id, many)
    await store.upsert(id, [record('f10', 0, 'A file whose id begins alike.')])
    await store.finalize(id, 'f1')
    expect(await store.count(id, 'f1')).toBe(1250)
    await store.deleteFile(id, 'f1')
    expect(await store.count(id, 'f1')).toBe(0)
    expect(await store.count(id)).toBe(1)
  })

  it('accepts all characters of ids, and distinguishes upper and lower case', async () => {
    const ids = [`a.b~c_d-${randomUUID()}`, `Case-${randomUUID()}`]
    ids.push(ids[1]?.toUpperCase() ?? '')
    for (const id of ids) await store.upsert(id, harbour)
    for (const id of ids) expect(await store.count(id)).toBe(3)
    expect(await store.listSpaces()).toEqual(expect.arrayContaining(ids))
    await store.deleteSpace(ids[1] ?? '')
    expect(await store.count(ids[2] ?? '')).toBe(3)
  })

  it('treats the contents of ids and texts as plain values', async () => {
    const id = randomUUID()
    const hostile = ["' OR 1=1 --", '{"must":[]}', '__proto__', 'a b/c?d#e%2f', '*', 'ß漢字🦭'].map((fileId) =>
      record(fileId, 0, `${fileId} \u0000 "quoted" \\ ${'x'.repeat(1000)}`),
    )
    const files = hostile.map(({ fileId }) => fileId)
    await store.upsert(id, harbour)
    await store.upsert(id, hostile)
    expect((await store.listFiles(id)).toSorted()).toEqual([...files, 'f1', 'f2'].toSorted())
    for (const fileId of files) {
      expect(await store.count(id, fileId)).toBe(1)
      await store.deleteFile(id, fileId)
    }
    expect(await store.count(id)).toBe(harbour.length)
  })

  it('finds nothing without a vector of the right model, except by full text', async () => {
    const id = await filled()
    const found = await store.search(id, { vector: undefined, text: 'dredging', limit: 3 })
    expect(found.map((match) => match.id)).toEqual(store.name === 'lancedb' ? ['f1:1'] : [])
  })

  it('refuses vectors of another length with a conflict', async () => {
    const id = await filled()
    const odd = { ...record('f3', 0, 'odd'), vector: [1, 2, 3] }
    await expect(store.upsert(id, [odd])).rejects.toMatchObject({ code: 'conflict' })
  })
})

/** Merges run at a low priority: on a busy machine they wait. */
const mergedMs = 120_000

describe('lancedb', () => {
  it('writes the columns that LanceDB makes of the same rows', () => {
    const vector = [0.5, -0.25, 1e-9, 3]
    const row = { id: 'f:0', assistant_id: 'a', file_id: 'f', terms: 'naïve 漢字 ' }
    const rows = [
      { ...row, vector },
      { ...row, id: "f:1'", terms: '', vector: vector.toReversed() },
    ]
    const [own, ofLance] = [toColumns(rows), makeArrowTable(rows)]
    const fields = (table: { schema: { fields: object[] } }) => table.schema.fields.map(String)
    expect(fields(own)).toEqual(fields(ofLance))
    expect(own.schema.fields.map(({ nullable }) => nullable)).toEqual(
      ofLance.schema.fields.map(({ nullable }) => nullable),
    )
    expect(JSON.stringify(own.toArray())).toBe(JSON.stringify(ofLance.toArray()))
    expect(() =>
      toColumns([
        { ...row, vector },
        { ...row, vector: [1] },
      ]),
    ).toThrow('different lengths')
  })

  it('finds names and numbers by full text', async () => {
    const store = createLanceStore(join(folder, 'words'))
    await store.upsert('a', harbour)
    const nowhere = Array.from({ length: dimension }, (_, index) => (index === 0 ? 1 : 0))
    for (const question of ['73500', '73,500', 'MARK']) {
      const [best] = await store.search('a', { vector: nowhere, text: question, limit: 1 })
      expect(best?.id).toBe('f1:1')
    }
    const [quoted] = await store.search('a', { vector: nowhere, text: `Amalia's "steamers" AND (OR' --`, limit: 1 })
    expect(quoted?.id).toBe('f1:0')
    await store.close()
  })

  it('finds words alone while there is no model', async () => {
    const store = createLanceStore(join(folder, 'words-only'))
    const texts = harbour.map(({ text }) => text)
    const vectors = await wordsOnlyEmbedder.embed(texts)
    await store.upsert(
      'a',
      harbour.map((one, index) => ({ ...one, vector: vectors[index] ?? [] })),
    )
    await store.finalize('a', 'f1', 2)
    const found = await store.search('a', { vector: undefined, text: 'the steamer of Riga', limit: 5 })
    expect(found.map(({ id }) => id).toSorted()).toEqual(['f1:0', 'f2:0'])
    await store.close()
  })

  it('works in several processes at once, without loss or duplicates', async () => {
    const uri = join(folder, 'shared')
    const script = join(import.meta.dirname, '../support/lance-writer.ts')
    const writers = ['w1', 'w2', 'w2'].map((fileId) => fork(script, [uri, 'shared', fileId, '30'], { execArgv: [] }))
    const store = createLanceStore(uri)
    const codes = await Promise.all(writers.map((writer) => once(writer, 'exit')))
    expect(codes.map(([code]) => code)).toEqual([0, 0, 0])
    for (const fileId of ['w1', 'w2']) await store.finalize('shared', fileId, 240)
    expect(await store.count('shared', 'w1')).toBe(240)
    expect(await store.count('shared', 'w2')).toBe(240)
    const found = await store.search('shared', { vector: vectorOf('line 7'), text: 'line 7', limit: 20 })
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    await store.close()
  })

  it('merges new rows into the indexes of a large table less often while a file grows', async () => {
    const uri = join(folder, 'growing')
    const { store, write, written } = growingFile(uri)
    const tables = createLanceTables(uri)
    const outside = () => tables.use('a', async (table) => (await table.indexStats(textIndexName))?.numUnindexedRows)
    for (let part = 0; part < 4; part++) await write(7250)
    await store.finalize('a', 'f1')
    expect(await outside()).toBe(0)
    // Less than an eighth, then more.
    await write(4000)
    await store.finalize('a', 'f1')
    expect(await outside()).toBe(4000)
    await write(1000)
    await store.finalize('a', 'f1')
    expect(await outside()).toBe(0)
    await write(4000)
    await store.finalize('a', 'f1', written())
    expect(await outside()).toBe(0)
    await Promise.all([store.close(), tables.close()])
  })

  it('searches the words of a large table only in its index while many rows are outside, and their vectors anyway', async () => {
    const { store, write, written } = growingFile(join(folder, 'behind'))
    const found = async (text: string, vector?: number[]) =>
      (await store.search('a', { vector, text, limit: 5 })).map(({ id }) => id)
    for (let part = 0; part < 3; part++) await write(7000)
    await store.finalize('a', 'f1')
    await write(8000)
    expect(await found('28007')).toEqual(['f1:28007'])
    await write(1000)
    expect(await found('28007')).toEqual([])
    expect(await found('7')).toEqual(['f1:7'])
    expect(await found('line 28007', vectorOf('line 28007'))).toContain('f1:28007')
    await store.finalize('a', 'f1', written())
    expect(await found('28007')).toEqual(['f1:28007'])
    await store.close()
  })

  it('merges new rows of a small table in another process while nobody waits, and leaves nothing of a table that is deleted meanwhile', async () => {
    const uri = join(folder, 'small')
    const processes = () => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length
    const before = processes()
    const store = createLanceStore(uri)
    const tables = createLanceTables(uri)
    const outside = () => tables.use('a', async (table) => (await table.indexStats(textIndexName))?.numUnindexedRows)
    const settled = async (fileId: string) => {
      const records = Array.from({ length: 4500 }, (_, index) => record(fileId, index, `line ${index}`))
      await store.upsert('a', records, { areNew: true })
      await store.finalize('a', fileId, records.length)
      expect(await store.count('a', fileId)).toBe(records.length)
    }
    await store.upsert('a', harbour)
    await settled('large')
    const [best] = await store.search('a', { vector: vectorOf('line 17'), text: 'line 17', limit: 1 })
    expect(best?.id).toBe('large:17')
    await expect.poll(outside, { timeout: mergedMs }).toBe(0)
    await settled('second')
    expect(processes()).toBe(before + 1)
    await store.deleteSpace('a')
    expect(processes()).toBe(before)
    await Promise.all([store.close(), tables.close()])
    expect(await readdir(uri)).not.toContain('a-a.lance')
  })

  it('merges many small files together, when no more are added, and all that waits when it closes', async () => {
    const uri = join(folder, 'many-small')
    const tables = createLanceTables(uri)
    const outside = () => tables.use('a', async (table) => (await table.indexStats(textIndexName))?.numUnindexedRows)
    const versions = async () => (await tables.use('a', (table) => table.listVersions()))?.length ?? 0
    const store = createLanceStore(uri)
    const add = async (from: number, to: number) => {
      for (let file = from; file < to; file++) {
        await store.upsert('a', [record(`f${file}`, 0, `line ${file}`)], { areNew: true })
        await store.finalize('a', `f${file}`, 1)
      }
    }
    await add(0, 30)
    // One for each file, and those of some merges.
    expect(await versions()).toBeLessThan(30 + 2 * 10)
    // Of a small table up to a tenth may stay outside.
    await expect.poll(outside, { timeout: mergedMs }).toBeLessThanOrEqual(3)
    await add(30, 34)
    expect(await outside()).toBeGreaterThan(0)
    await store.close()
    expect(await outside()).toBe(0)
    await tables.close()
  })

  it('lets go of the files of many tables', async () => {
    const uri = join(folder, 'many')
    const writer = createLanceStore(uri)
    const ids = Array.from({ length: 9 }, (_, index) => `many-${index}`)
    for (const id of ids) await writer.upsert(id, harbour)
    await writer.close()
    const tables = createLanceTables(uri, { mostTables: 3 })
    /** Files of the tables that this process has open; Linux tells. */
    const openFiles = async () => {
      const opened = await readdir('/proc/self/fd').catch(() => [])
      const paths = await Promise.all(opened.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
      return paths.filter((path) => path.startsWith(uri)).length
    }
    const search = async (id: string) => {
      const words = (table: Table) => table.query().fullTextSearch('amalia').limit(3).toArray()
      expect(await tables.use(id, words)).toHaveLength(1)
    }
    for (const id of ids) await search(id)
    await Promise.all([...ids, ...ids].map(search))
    expect(await tables.names()).toHaveLength(ids.length)
    await expect.poll(openFiles, { timeout: 10_000 }).toBeLessThan(ids.length)
    await tables.close()
  })

  it('creates the table of an assistant once for simultaneous first writes', async () => {
    const uri = join(folder, 'first')
    const stores = [createLanceStore(uri), createLanceStore(uri)]
    for (let round = 0; round < 12; round++) {
      const id = `round-${round}`
      const files = Array.from({ length: 6 }, (_, index) => `f${index}`)
      await Promise.all(
        files.map(async (fileId, index) => stores[index % 2]?.upsert(id, [record(fileId, 0, `About ${fileId}.`)])),
      )
      for (const store of stores) expect(await store.count(id)).toBe(files.length)
      expect((await stores[0]?.listFiles(id))?.toSorted()).toEqual(files)
    }
    expect(await stores[1]?.listSpaces()).toHaveLength(12)
    for (const store of stores) await store.close()
  })

  it('deletes with an assistant also the staging folders of dead processes', async () => {
    const uri = join(folder, 'begun')
    const store = createLanceStore(uri)
    await store.upsert('a', harbour)
    const staging = join(uri, '.staging')
    expect(await readdir(staging)).toEqual([])
    for (const id of ['a', 'b']) await mkdir(join(staging, `a-${id}.${randomUUID()}.lance`))
    await store.deleteSpace('a')
    expect((await readdir(staging)).map((name) => name.slice(0, 4))).toEqual(['a-b.'])
    await store.close()
  })

  it('throws unavailable when it cannot be opened', async () => {
    await writeFile(join(folder, 'occupied'), 'a file')
    await expect(createLanceStore(join(folder, 'occupied', 'x')).ping()).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('pinecone', () => {
  it('throws unavailable when it fails, disconnects or is not there', async () => {
    const store = createPineconeStore({ apiKey: 'secret', host: pinecone.url })
    await store.ping()
    pinecone.state.failing = 503
    await expect(store.ping()).rejects.toBeInstanceOf(AppError)
    await expect(store.search('a', { vector: vectorOf('x'), text: 'x', limit: 1 })).rejects.toMatchObject({
      code: 'unavailable',
    })
    pinecone.state.failing = undefined
    const absent = createPineconeStore({ apiKey: 'secret', host: 'http://127.0.0.1:9' })
    await expect(absent.ping()).rejects.toMatchObject({ code: 'unavailable' })
    const stranger = createPineconeStore({ apiKey: 'wrong', host: pinecone.url })
    await expect(stranger.ping()).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('qdrant', () => {
  const options = { apiKey: 'secret', collection: 'other' }

  it('is empty before its collection exists, and creates it once for simultaneous writers', async () => {
    const empty = { ...options, url: qdrant.url, collection: 'first-use' }
    const stores = Array.from({ length: 4 }, () => createQdrantStore(empty))
    const [store] = stores
    await store?.ping()
    expect(await store?.count('a')).toBe(0)
    expect(await store?.search('a', { vector: vectorOf('x'), text: 'x', limit: 1 })).toEqual([])
    expect(await store?.listSpaces()).toEqual([])
    await store?.deleteFile('a', 'f1')
    await store?.deleteSpace('a')
    await Promise.all(stores.map((one, index) => one.upsert('a', [record(`f${index}`, 0, 'About.')])))
    expect(await store?.count('a')).toBe(4)
  })

  it('separates the same chunk of two assistants', async () => {
    const store = createQdrantStore({ ...options, url: qdrant.url })
    for (const id of ['one', 'two']) await store.upsert(id, harbour)
    await store.deleteSpace('one')
    expect([await store.count('one'), await store.count('two')]).toEqual([0, 3])
  })

  it('throws unavailable when it fails, is busy, hangs, sends an invalid answer, refuses the key or is not there', async () => {
    const gate = Promise.withResolvers<void>()
    let status = 503
    const server = await startHttpServer(async (_request, response) => {
      if (status === 0) await gate.promise
      if (status === 200) response.end('<html>')
      else sendJson(response, status || 500, { status: { error: 'failed' } })
    })
    const query = { vector: vectorOf('x'), text: 'x', limit: 1 }
    const away = { code: 'unavailable', message: 'The vector store does not answer.' }
    for (status of [503, 500, 429, 401, 403, 200, 0]) {
      const store = createQdrantStore({ ...options, url: server.url, requestTimeoutMs: 300 })
      await expect(store.ping(), String(status)).rejects.toMatchObject(away)
      await expect(store.search('a', query), String(status)).rejects.toMatchObject(away)
      await expect(store.upsert('a', harbour), String(status)).rejects.toMatchObject(away)
      await expect(store.deleteFile('a', 'f1'), String(status)).rejects.toMatchObject(away)
    }
    gate.resolve()
    await server.close()
    await expect(createQdrantStore({ ...options, url: 'http://127.0.0.1:9' }).ping()).rejects.toMatchObject(away)
    await expect(createQdrantStore({ ...options, apiKey: 'x', url: qdrant.url }).ping()).rejects.toMatchObject(away)
  })

  it('can be reached behind a path and at any port', async () => {
    const asked: string[] = []
    const server = await startHttpServer((request, response) => {
      asked.push(request.url ?? '')
      sendJson(response, 200, { result: { exists: true }, status: 'ok', time: 0 })
    })
    await createQdrantStore({ ...options, url: `${server.url}/qdrant` }).ping()
    await server.close()
    expect(asked).toEqual(['/qdrant/collections/other/exists'])
  })

  it('can be reached over TLS only with a certificate of a trusted authority', async () => {
    const authority = await createAuthority('qdrant')
    const server = createServer(authority.server, (request, response) => {
      sendJson(response, request.headers['api-key'] === 'secret' ? 200 : 401, { result: { exists: false } })
    })
    const url = `https://127.0.0.1:${await listenOnLoopback(server)}`
    await expect(createQdrantStore({ ...options, url }).ping()).rejects.toMatchObject({ code: 'unavailable' })
    const trusted = getCACertificates('default')
    // What NODE_EXTRA_CA_CERTS does at the start of a process.
    setDefaultCACertificates([...trusted, authority.ca])
    try {
      await createQdrantStore({ ...options, url }).ping()
    } finally {
      setDefaultCACertificates(trusted)
      server.closeAllConnections()
      server.close()
    }
  })

  it('requires its address in the settings', () => {
    const settings = { vectorStore: 'qdrant' as const, dataDir: folder, qdrantCollection: 'assistants' }
    const noKeys = { pineconeApiKey: undefined, s3AccessKeyId: undefined, s3SecretAccessKey: undefined }
    const none = { ...noKeys, lancedbUri: undefined, pineconeIndex: undefined, pineconeHost: undefined }
    const make = (qdrantUrl: string | undefined) =>
      createVectorStore({ ...none, ...settings, qdrantUrl, qdrantApiKey: undefined })
    expect(() => make(undefined)).toThrow('QDRANT_URL')
    expect(() => make('file:///etc')).toThrow('QDRANT_URL')
    expect(make(qdrant.url).name).toBe('qdrant')
  })
})
