import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { parseOwnJson } from '../../domain/own-json.ts'

export interface RetrievalSet {
  name: string
  documents: Document[]
  questions: Question[]
}

export interface Document {
  id: string
  /** The name of the file. */
  name: string
  /** Markdown. */
  text: string
}

export interface Question {
  text: string
  /** What a right passage holds: of one document (`answer`, as it stands there), or any part of these documents, by their grades. */
  right: { document: string; answer: string } | Map<string, number>
}

const corpus = path.join(import.meta.dirname, '../corpus')

/** The set of this repository, and those in the folders of `BENCH_RETRIEVAL_SETS`, in the forms of BEIR or SQuAD. */
export async function readSets(folder: string | undefined): Promise<RetrievalSet[]> {
  const names = folder === undefined ? [] : (await readdir(folder)).toSorted()
  const given = names.map((name) => {
    const inside = path.join(folder ?? '', name)
    return existsSync(path.join(inside, 'squad.json')) ? readSquad(name, inside) : readBeir(name, inside)
  })
  return [await readDictionary(), ...(await Promise.all(given))]
}

async function readDictionary(): Promise<RetrievalSet> {
  const text = await readFile(path.join(corpus, 'devils-dictionary.txt'), 'utf8')
  const questions = parseOwnJson<{ question: string; answer: string }[]>(
    await readFile(path.join(corpus, 'questions.json'), 'utf8'),
  )
  return {
    name: 'dictionary',
    documents: [{ id: 'dictionary', name: "The Devil's Dictionary.txt", text }],
    questions: questions.map(({ question, answer }) => ({ text: question, right: { document: 'dictionary', answer } })),
  }
}

interface Squad {
  data: { title: string; paragraphs: { context: string; qas: { question: string; answers: SquadAnswer[] }[] }[] }[]
}
interface SquadAnswer {
  text: string
  answer_start: number
}

/** Each article is a document. The answer is looked for with the words around it, because short ones stand everywhere. */
async function readSquad(name: string, folder: string): Promise<RetrievalSet> {
  const { data } = parseOwnJson<Squad>(await readFile(path.join(folder, 'squad.json'), 'utf8'))
  return {
    name,
    documents: data.map(({ title, paragraphs }) => ({
      id: title,
      name: `${title}.md`,
      text: paragraphs.map(({ context }) => context).join('\n\n'),
    })),
    questions: data.flatMap(({ title, paragraphs }) =>
      paragraphs.flatMap(({ context, qas }) =>
        qas.flatMap(({ question, answers: [answer] }) => {
          if (answer === undefined) return []
          const end = answer.answer_start + answer.text.length
          const around = context.slice(Math.max(answer.answer_start - 20, 0), end + 20).trim()
          return { text: question, right: { document: title, answer: around } }
        }),
      ),
    ),
  }
}

async function readBeir(name: string, folder: string): Promise<RetrievalSet> {
  const linesOf = async (file: string) =>
    (await readFile(path.join(folder, file), 'utf8')).split('\n').filter((line) => line.trim() !== '')
  const parsed = async (file: string) =>
    (await linesOf(file)).map((line) => parseOwnJson<{ _id: string; title?: string; text: string }>(line))
  const grades = new Map<string, Map<string, number>>()
  for (const line of (await linesOf('qrels/test.tsv')).slice(1)) {
    const [question = '', document = '', grade] = line.split('\t')
    if (Number(grade) <= 0) continue
    const known = grades.get(question) ?? new Map<string, number>()
    grades.set(question, known.set(document, Number(grade)))
  }
  return {
    name,
    documents: (await parsed('corpus.jsonl')).map(({ _id, title = '', text }) => ({
      id: _id,
      name: `${_id}.md`,
      text: title === '' ? text : `# ${title}\n\n${text}`,
    })),
    questions: (await parsed('queries.jsonl')).flatMap(({ _id, text }) => {
      const right = grades.get(_id)
      return right === undefined ? [] : { text, right }
    }),
  }
}
