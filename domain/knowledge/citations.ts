import { parseForeignJson } from '../foreign-json.ts'
import { memberOf } from '../json.ts'
import type { Message } from '../messages.ts'

/** A mention of a place in a file: `(guide.pdf, page 3)`. */
interface Citation {
  /** With its brackets. */
  text: string
  /** In UTF-16 code units, the end not included. */
  start: number
  end: number
  fileId: string
  page?: number
}

/** A file of which a run has found passages. */
export interface CitedFile {
  id: string
  name: string
  pages: Set<number>
  /** Pages by what the document calls them, where that is no number: `xii`. */
  labels: Map<string, number>
  headings: Set<string>
}

/** Limits of what is read of results, because imported threads can hold anything. A run finds far less. */
const maxResultBytes = 512 * 1024
const maxResultsBytes = 4 * 1024 * 1024
const maxNameCharacters = 1000
const maxFiles = 100
const maxHeadings = 100
const maxLabels = 1000
/** Limit of comparisons with one answer, because an answer can consist of brackets. */
const maxComparisons = 100_000

/** The citations in an answer, in order. A page that no passage of the file is from is not cited. */
export function citationsIn(answer: string, files: CitedFile[]): Citation[] {
  const found: Citation[] = []
  let comparisons = 0
  for (let start = answer.indexOf('('); start >= 0 && files.length > 0; start = answer.indexOf('(', start + 1)) {
    for (const file of files) {
      if (++comparisons > maxComparisons) return found
      if (!answer.startsWith(file.name, start + 1)) continue
      comparisons += file.headings.size + file.labels.size
      const cited = citationAt(answer, start, file)
      if (cited === undefined) continue
      found.push(cited)
      break
    }
  }
  return found
}

/** After the name of a file: `, page 3)`, `, pages 3–4)` or `)`. */
const place = /(?:, pages? (\d{1,7})(?:[–-]\d{1,7})?)?\)/y

function citationAt(answer: string, start: number, file: CitedFile): Citation | undefined {
  const after = start + 1 + file.name.length
  const until = (end: number) => ({ text: answer.slice(start, end), start, end, fileId: file.id })
  place.lastIndex = after
  const match = place.exec(answer)
  if (match !== null) {
    const [whole, digits] = match
    const cited = until(after + whole.length)
    if (digits === undefined) return cited
    const page = Number(digits)
    return file.pages.has(page) ? { ...cited, page } : undefined
  }
  for (const [name, page] of file.labels) {
    const label = [`, page ${name})`, `, p. ${name})`].find((one) => answer.startsWith(one, after))
    if (label !== undefined) return { ...until(after + label.length), page }
  }
  for (const heading of file.headings) {
    const label = `, ${heading})`
    if (answer.startsWith(label, after)) return until(after + label.length)
  }
  return undefined
}

/**
 * The files that each of these runs has found passages of, from the results of `retrieval` among the messages. Of very
 * many results the newest are read.
 */
export function citedFilesOf(
  runIds: ReadonlySet<string>,
  logged: { message: Message; runId: string | undefined }[],
): Map<string, CitedFile[]> {
  const filesOfRuns = new Map<string, Map<string, CitedFile>>()
  let room = maxResultsBytes
  for (const { message, runId } of logged.toReversed()) {
    if (runId === undefined || !runIds.has(runId) || !isResult(message)) continue
    const { content } = message.data
    room -= content.length
    if (room < 0) break
    const files = filesOfRuns.get(runId) ?? new Map<string, CitedFile>()
    filesOfRuns.set(runId, files)
    for (const passage of listIn(parsed(content), 'passages')) addPassage(files, passage)
  }
  return new Map([...filesOfRuns].map(([runId, files]) => [runId, [...files.values()]]))
}

/** Of `retrieval`, or of another assistant, which passes on the passages that its answer names. */
function isResult({ type, data }: Message): boolean {
  if (type !== 'ToolMessage') return false
  if (data.asked !== undefined) return data.content.startsWith('{"answer"')
  return data.name === 'retrieval' && data.content.startsWith('{"passages"')
}

/** The passages in the results among the messages, as they are. */
export function rawPassagesIn(messages: Message[]): object[] {
  return messages
    .filter(isResult)
    .flatMap(({ data }) => listIn(parsed(data.content), 'passages'))
    .filter((passage) => typeof passage === 'object' && passage !== null)
}

/** The passages in a result of `retrieval`, for people who look at a run; undefined for any other text. */
export function passagesIn(
  content: string,
): { fileId: string; fileName: string; score: number; text: string }[] | undefined {
  if (!content.startsWith('{"passages"')) return undefined
  return listIn(parsed(content), 'passages').map((passage) => {
    const [score, text] = [memberOf(passage, 'score'), memberOf(passage, 'text')]
    return {
      fileId: textIn(passage, 'file_id') ?? '',
      fileName: textIn(passage, 'file_name') ?? '',
      score: typeof score === 'number' ? score : 0,
      text: typeof text === 'string' ? text : '',
    }
  })
}

function addPassage(files: Map<string, CitedFile>, passage: unknown): void {
  const [id, name, heading] = [textIn(passage, 'file_id'), textIn(passage, 'file_name'), textIn(passage, 'heading')]
  if (id === undefined || name === undefined) return
  const file = files.get(id) ?? { id, name, pages: new Set(), labels: new Map(), headings: new Set() }
  if (files.size < maxFiles) files.set(id, file)
  if (heading !== undefined && file.headings.size < maxHeadings) file.headings.add(heading)
  for (const entry of [passage, ...listIn(passage, 'pages')]) {
    const page = memberOf(entry, 'page')
    if (typeof page !== 'number') continue
    file.pages.add(page)
    const label = textIn(entry, 'label')
    if (label !== undefined && !/^\d+$/.test(label) && file.labels.size < maxLabels) file.labels.set(label, page)
  }
}

function parsed(content: string): unknown {
  try {
    return parseForeignJson(content, { bytes: maxResultBytes })
  } catch {
    return undefined
  }
}

function textIn(value: unknown, key: string): string | undefined {
  const text = memberOf(value, key)
  return typeof text === 'string' && text !== '' && text.length <= maxNameCharacters ? text : undefined
}

function listIn(value: unknown, key: string): unknown[] {
  const list = memberOf(value, key)
  return Array.isArray(list) ? list : []
}
