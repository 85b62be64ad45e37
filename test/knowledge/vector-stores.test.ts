import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fork } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '../../domain/errors.ts'
import { createLanceStore } from '../../infra/vectors/lancedb.ts'
import { createPineconeStore } from '../../infra/vectors/pinecone.ts'
import { embedByHashing } from '../../local/demo-model/embed.ts'
import type { VectorRecord, VectorStore } from '../../services/knowledge/vector-store.ts'
import { startPineconeServer } from '../support/pinecone-server.ts'

const dimension = 64
const vectorOf = (text: string) => embedByHashing(text, dimension)

function record(fileId: string, position: number, text: string): VectorRecord {
  return { id: `${fileId}:${position}`, fileId, position, text, vector: vectorOf(text) }
}

const harbour = [
  record('f1', 0, 'The steamer Amalia carried 412 passengers across the strait.'),
  record('f1', 1, 'The dredging of the western basin cost 73,500 marks.'),
  record('f2', 0, 'Timber came from Riga, coal from Silesia.'),
]

let folder: string
let pinecone: Awaited<ReturnType<typeof startPineconeServer>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vectors-'))
  pinecone = await startPineconeServer({ apiKey: 'secret', dimension })
})
afterAll(async () => {
  await pinecone.close()
  await rm(folder, { recursive: true, force: true })
})

const makers: [string, () => VectorStore][] = [
  ['lancedb', () => createLanceStore(join(folder, 'lance'))],
  ['pinecone', () => createPineconeStore({ apiKey: 'secret', host: pinecone.url })],
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
    expect(await store.listAssistants()).toContain(id)
    await store.deleteAssistant(id)
    await store.deleteAssistant(id)
    expect(await store.count(id)).toBe(0)
    expect(await store.listAssistants()).not.toContain(id)
    expect(await store.search(id, { vector: vectorOf('x'), text: 'x', limit: 3 })).toEqual([])
    await store.upsert(id, harbour)
    expect(await store.count(id)).toBe(3)
  })

  it('deletes a file of many chunks and no other file', async () => {
    const id = randomUUID()
    const many = Array.from({ length: 1250 }, (_, position) => record('f1', position, `Line ${position} of the log.`))
    await store.upsert(id, many)
    await store.upsert(id, [record('f10', 0, 'A file whose id begins alike.')])
    await store.settle(id, 'f1')
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
    expect(await store.listAssistants()).toEqual(expect.arrayContaining(ids))
    await store.deleteAssistant(ids[1] ?? '')
    expect(await store.count(ids[2] ?? '')).toBe(3)
  })

  it('refuses vectors of another length with a conflict', async () => {
    const id = await filled()
    const odd = { ...record('f3', 0, 'odd'), vector: [1, 2, 3] }
    await expect(store.upsert(id, [odd])).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('lancedb', () => {
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

  it('works in several processes at once, without loss or duplicates', async () => {
    const uri = join(folder, 'shared')
    const script = join(import.meta.dirname, '../support/lance-writer.ts')
    const writers = ['w1', 'w2', 'w2'].map((fileId) => fork(script, [uri, 'shared', fileId, '30'], { execArgv: [] }))
    const store = createLanceStore(uri)
    const codes = await Promise.all(writers.map((writer) => once(writer, 'exit')))
    expect(codes.map(([code]) => code)).toEqual([0, 0, 0])
    for (const fileId of ['w1', 'w2']) await store.settle('shared', fileId, 240)
    expect(await store.count('shared', 'w1')).toBe(240)
    expect(await store.count('shared', 'w2')).toBe(240)
    const found = await store.search('shared', { vector: vectorOf('line 7'), text: 'line 7', limit: 20 })
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    await store.close()
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
    expect(await stores[1]?.listAssistants()).toHaveLength(12)
    for (const store of stores) await store.close()
  })

  it('deletes with an assistant also the staging folders of dead processes', async () => {
    const uri = join(folder, 'begun')
    const store = createLanceStore(uri)
    await store.upsert('a', harbour)
    const staging = join(uri, '.staging')
    expect(await readdir(staging)).toEqual([])
    for (const id of ['a', 'b']) await mkdir(join(staging, `a-${id}.${randomUUID()}.lance`))
    await store.deleteAssistant('a')
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
