import { createReadStream } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExtractor } from '../../infra/extract/extractor.ts'
import { createLanceStore } from '../../infra/vectors/lancedb.ts'
import { embedByHashing } from '../../local/demo-model/embed.ts'

const corpus = join(import.meta.dirname, '..', 'corpus')
const dimensions = 1536

export interface Recall {
  questions: number
  /** Shares of the questions whose answer is in the first, and in one of the first five passages. */
  first: number
  firstFive: number
  missed: string[]
}

/**
 * How often the default search finds the answer to the questions of `bench/corpus`, with the service's own
 * extraction, chunks and LanceDB search, and the demo model's embeddings, which compare words, not meaning; real
 * embeddings should be better.
 */
export async function measureRecall(): Promise<Recall> {
  const folder = await mkdtemp(join(tmpdir(), 'recall-'))
  const extractor = createExtractor({ memoryMb: 1024, cpuSeconds: 120, timeoutSeconds: 120, idleReaders: 1 })
  const store = createLanceStore(folder)
  try {
    const texts = new Map<string, string>()
    const name = 'devils-dictionary.txt'
    const path = join(corpus, name)
    const file = { name, size: (await stat(path)).size, owner: 'recall', content: () => createReadStream(path) }
    for await (const { text } of extractor.extract(file)) texts.set(`f:${texts.size}`, text)
    const records = [...texts].map(([id, text], position) => {
      return { id, fileId: 'f', position, text, vector: embedByHashing(text, dimensions) }
    })
    await store.upsert('recall', records)
    await store.finalize('recall', 'f')
    const questions = await readQuestions()
    let first = 0
    let firstFive = 0
    const missed: string[] = []
    for (const { question, answer } of questions) {
      const vector = embedByHashing(question, dimensions)
      const found = await store.search('recall', { vector, text: question, limit: 5 })
      const rank = found.findIndex(({ id }) => plain(texts.get(id) ?? '').includes(plain(answer)))
      if (rank === 0) first++
      if (rank >= 0) firstFive++
      else missed.push(question)
    }
    const { length } = questions
    return { questions: length, first: first / length, firstFive: firstFive / length, missed }
  } finally {
    await store.close()
    await extractor.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function readQuestions(): Promise<{ question: string; answer: string }[]> {
  const value: unknown = JSON.parse(await readFile(join(corpus, 'questions.json'), 'utf8'))
  if (!Array.isArray(value)) throw new Error('questions.json is not a list')
  return value.map((entry: unknown) => ({ question: textIn(entry, 'question'), answer: textIn(entry, 'answer') }))
}

function textIn(entry: unknown, name: string): string {
  const value: unknown = typeof entry === 'object' && entry !== null ? Reflect.get(entry, name) : undefined
  if (typeof value !== 'string') throw new Error(`an entry of questions.json has no ${name}`)
  return value
}

/** Without line breaks, and without the marks that the source puts around cross-references and emphasis. */
function plain(text: string): string {
  return text.replace(/[{}_]/g, '').replace(/\s+/g, ' ')
}
