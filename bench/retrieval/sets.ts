import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { PDFiumLibrary } from '@hyzyla/pdfium'
import { parseOwnJson } from '../../domain/json.ts'

export interface RetrievalSet {
  name: string
  documents: Document[]
  questions: Question[]
}

export interface Document {
  id: string
  /** The name of the file. */
  name: string
  /** Markdown; of a PDF what PDFium reads. */
  text: string
  pdf?: { bytes: Buffer; pages: string[] }
}

export interface Question {
  text: string
  /** What a right passage holds: of one document (`answer`, as it stands there), any part of these
   * documents, by their grades, or a page of one, counted from 1. */
  right: { document: string; answer: string } | Map<string, number> | { document: string; pages: number[] }
}

const corpus = path.join(import.meta.dirname, '../corpus')

/**
 * The set of this repository, and those in the folders of `BENCH_RETRIEVAL_SETS`, in the forms of BEIR, SQuAD or
 * FinanceBench.
 */
export async function readSets(folder: string | undefined): Promise<RetrievalSet[]> {
  const names = folder === undefined ? [] : (await readdir(folder)).toSorted()
  const given = names.map((name) => {
    const inside = path.join(folder ?? '', name)
    if (existsSync(path.join(inside, financeFile))) return readFinance(name, inside)
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

const financeFile = 'financebench_open_source.jsonl'

/** The questions of FinanceBench (Islam et al. 2023) about the reports that are in the folder `pdfs`. */
async function readFinance(name: string, folder: string): Promise<RetrievalSet> {
  const library = await PDFiumLibrary.init()
  const documents: Document[] = []
  for (const file of (await readdir(path.join(folder, 'pdfs'))).toSorted()) {
    const bytes = await readFile(path.join(folder, 'pdfs', file))
    const opened = await library.loadDocument(bytes)
    const pages = [...opened.pages()].map((page) => page.getText())
    opened.destroy()
    documents.push({ id: path.parse(file).name, name: file, text: pages.join('\n'), pdf: { bytes, pages } })
  }
  const known = new Set(documents.map(({ id }) => id))
  const lines = (await readFile(path.join(folder, financeFile), 'utf8')).split('\n').filter((line) => line !== '')
  const asked = lines.map((line) =>
    parseOwnJson<{ question: string; doc_name: string; evidence: { evidence_page_num: number }[] }>(line),
  )
  return {
    name,
    documents,
    questions: asked
      .filter(({ doc_name: document }) => known.has(document))
      .map(({ question, doc_name: document, evidence }) => ({
        text: question,
        right: { document, pages: evidence.map(({ evidence_page_num: page }) => page + 1) },
      })),
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
    documents: (await parsed('corpus.jsonl'))
      .map(({ _id, title = '', text }) => ({
        id: _id,
        name: `${_id}.md`,
        text: title === '' ? text : `# ${title}\n\n${text}`,
      }))
      // Two of Cranfield say nothing.
      .filter(({ text }) => text.trim() !== ''),
    questions: (await parsed('queries.jsonl')).flatMap(({ _id, text }) => {
      const right = grades.get(_id)
      return right === undefined ? [] : { text, right }
    }),
  }
}
