import { createHash } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pageRange } from '../../domain/chunking/sentence-pages.ts'
import { comparedMatches, rankByNames } from '../../domain/search/named-documents.ts'
import { createBuiltInEmbedder } from '../../infra/built-in-model/embedder.ts'
import { createExtractor } from '../../infra/extract/extractor.ts'
import { createLanceStore } from '../../infra/vectors/lancedb.ts'
import { cacheDir } from '../../local/services/cache.ts'
import { prepareEmbeddingModel } from '../../local/services/embedding-model.ts'
import { documentName, searchedText } from '../../services/knowledge/chunk-texts.ts'
import { table } from '../statistics.ts'
import { createBaselines } from './baselines.ts'
import { type Found, measure, rightDocument } from './measures.ts'
import { type Document, type RetrievalSet, readSets } from './sets.ts'

type Embed = (texts: string[]) => Promise<number[][]>

/** Passages that are asked for: ten documents are among them. */
const limit = 30

/**
 * `npm run bench -- retrieval`: what the product finds with the built-in model, beside what tutorials find in the same
 * documents with the same model. `BENCH_RETRIEVAL_SETS` names a folder with further sets (docs/performance.md). With
 * `BENCH_RETRIEVAL_WORDS=true` by words alone, as until a model is there: that takes seconds instead of hours. With
 * `BENCH_RETRIEVAL_PIECES=false` the model is not measured alone, which takes more than half of the time.
 */
export async function benchRetrieval({ log }: { log: (line: string) => void }): Promise<void> {
  const sets = await readSets(process.env['BENCH_RETRIEVAL_SETS'])
  if (process.env['BENCH_RETRIEVAL_WORDS'] === 'true') {
    for (const set of sets) await measureSet(set, undefined, log)
    return
  }
  const { value: weights } = await prepareEmbeddingModel(log)
  const model = createBuiltInEmbedder(weights)
  const embed = await rememberingEmbed(model.embed)
  try {
    for (const set of sets) await measureSet(set, embed, log)
  } finally {
    await model.close()
  }
}

async function measureSet(set: RetrievalSet, embed: Embed | undefined, log: (line: string) => void): Promise<void> {
  const { name, documents, questions } = set
  const vectors = embed === undefined ? [] : await embed(questions.map(({ text }) => text))
  const each = (find: (text: string, vector: number[]) => { found: Found }[]) =>
    questions.map(({ text }, index) => find(text, vectors[index] ?? []).map(({ found }) => found))
  const withPieces = process.env['BENCH_RETRIEVAL_PIECES'] !== 'false'
  const baselines = await createBaselines(documents, withPieces ? embed : undefined)
  const product = await findByProduct(set, vectors, embed)
  const words = { 'words (BM25)': each((text) => baselines.words(text)) }
  const rows =
    embed === undefined
      ? { ...words, 'the product, by words': product }
      : {
          ...words,
          ...(withPieces
            ? {
                'the model alone': each((_text, vector) => baselines.meaning(vector)),
                'both fused': each(baselines.both),
              }
            : {}),
          'the product': product,
        }
  log(`\n### ${name}: ${documents.length} documents, ${questions.length} questions\n`)
  const cells = Object.entries<Found[][]>(rows).map(([label, found]) => {
    const { first, five, ten, ndcg } = measure(questions, found)
    return [label, ...[first, five, ten, ndcg, rightDocument(questions, found)].map((value) => value.toFixed(3))]
  })
  log(table(['', 'recall at 1', 'at 5', 'at 10', 'nDCG at 10', 'right document first'], cells))
}

/** Until a model is there, vectors have one number, and are not compared. */
const noVector = [1]

/** The product's own readers, chunks, texts, search and order. */
async function findByProduct({ documents, questions }: RetrievalSet, vectors: number[][], embed: Embed | undefined) {
  const folder = await mkdtemp(path.join(tmpdir(), 'retrieval-'))
  const extractor = createExtractor({ memoryMb: 1024, idleReaders: 1 })
  let store = createLanceStore(folder)
  try {
    const passages = new Map<string, Found>()
    const names = new Map(documents.map((document) => [document.id, [documentName(document)]]))
    for (const document of documents) await addDocument(document)
    // Merges what was added last.
    await store.close()
    store = createLanceStore(folder)
    const results: Found[][] = []
    for (const [index, { text }] of questions.entries()) {
      const found = await store.search('set', { vector: vectors[index], text, limit: comparedMatches })
      const ranked = rankByNames(text, found, ({ fileId }) => names.get(fileId) ?? []).slice(0, limit)
      results.push(ranked.flatMap(({ id }) => passages.get(id) ?? []))
    }
    return results

    async function addDocument({ id, name, text, pdf }: Document): Promise<void> {
      const content = pdf?.bytes ?? Buffer.from(text)
      const file = { name, size: content.length, owner: 'bench', content: () => Readable.from([content]) }
      const chunks = []
      for await (const chunk of extractor.extract(file)) chunks.push(chunk)
      const embedded = await embed?.(chunks.map((chunk) => searchedText({ name }, chunk)))
      const records = chunks.map((chunk, position) => {
        const range = chunk.pages && pageRange(chunk.pages)
        const pages = range && { pages: [range.page, range.last_page] as [number, number] }
        passages.set(`${id}:${position}`, { document: id, text: chunk.text, ...pages })
        const vector = embedded?.[position] ?? noVector
        return { id: `${id}:${position}`, fileId: id, position, text: searchedText({ name }, chunk), vector }
      })
      await store.upsert('set', records, { areNew: true })
      await store.finalize('set', id, records.length)
    }
  } finally {
    await store.close()
    await extractor.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Vectors are kept in the folder of downloads: embedding takes most of the time, and another run asks for the same. */
async function rememberingEmbed(embed: Embed): Promise<Embed> {
  const file = path.join(cacheDir(), 'bench-vectors.txt')
  const known = new Map<string, string>()
  const stored = await readFile(file, 'latin1').catch(() => '')
  for (const line of stored.split('\n')) {
    const [key, vector] = line.split(' ')
    if (key !== undefined && vector !== undefined) known.set(key, vector)
  }
  const keyOf = (text: string) => createHash('sha256').update(text).digest('base64').slice(0, 22)
  return async (texts) => {
    const missing = texts.filter((text) => !known.has(keyOf(text)))
    for (let start = 0; start < missing.length; start += 64) {
      const part = missing.slice(start, start + 64)
      const vectors = await embed(part)
      const lines = part.map((text, index) => {
        const vector = Buffer.from(new Float32Array(vectors[index] ?? []).buffer).toString('base64')
        known.set(keyOf(text), vector)
        return `${keyOf(text)} ${vector}\n`
      })
      await appendFile(file, lines.join(''))
    }
    return texts.map((text) => {
      const bytes = Buffer.from(known.get(keyOf(text)) ?? '', 'base64')
      return [...new Float32Array(Uint8Array.from(bytes).buffer)]
    })
  }
}
