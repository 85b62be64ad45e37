import { cutText } from '../../domain/cut-text.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileChunk } from '../../domain/records/chunk-group.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import { fileStore } from '../stores/files.ts'
import { documentName } from './chunk-texts.ts'
import { type Passage, type RetrieveDeps, currentPages, passageOf } from './retrieve.ts'
import { eachChunk, readChunks } from './stored-chunks.ts'

/** Chunks that a model is given at once, of 400 tokens each. */
const chunksInPart = 16
/** Of so many chunks the headings are listed. */
const outlinedChunks = 1024
const outlineEntries = 60
const headingCharacters = 120
/** Files of one name: a page of the web can have several texts, of which one is read. */
const sameName = 10

/** What is told of an owner's files: the newest, by their names. */
export const namedFiles = 30
const nameCharacters = 100
const namesCharacters = 1500

interface ReadDeps {
  collections: Pick<RetrieveDeps['collections'], 'files' | 'chunks' | 'sourcePages'>
}

/** An assistant or vector store, and of its files those that may be read; undefined: all. */
interface ReadableOwner {
  owner: Pick<AssistantRecord, '_id'>
  fileIds: string[] | undefined
}

/** A part of a file, in the order of the file. */
export interface FilePart {
  passages: Passage[]
  part: number
  parts: number
  /** With the first of several parts: what stands where. */
  outline?: { heading: string; part: number }[]
}

/**
 * A part of the newest ready file of this name, counted from 1; undefined if there is no such file. Its passages are
 * as those of a search, with score 1. A part that the file does not have has none.
 */
export async function readFilePart(
  { collections }: ReadDeps,
  owners: ReadableOwner[],
  { name, part }: { name: string; part: number },
): Promise<FilePart | undefined> {
  const file = await fileOfName(collections, owners, name)
  if (file === undefined) return undefined
  const parts = Math.ceil(file.chunks / chunksInPart)
  const chunks = await readChunks(collections, file, (part - 1) * chunksInPart, part * chunksInPart)
  const outline = part === 1 && parts > 1 ? await outlineOf(collections, file) : []
  return {
    passages: chunks.map((chunk) => ({ ...passageOf(chunk, file), score: 1 })),
    part,
    parts,
    ...(outline.length < 2 ? {} : { outline }),
  }
}

async function fileOfName(
  collections: ReadDeps['collections'],
  owners: ReadableOwner[],
  name: string,
): Promise<FileRecord | undefined> {
  for (const { owner, fileIds } of owners) {
    const found = await fileStore(collections).listNamed(owner._id, name, sameName, fileIds)
    const file = found.find(await currentPages(collections, found))
    if (file !== undefined) return file
  }
  return undefined
}

/** Where each heading stands first; of too many, those of the upper levels. */
async function outlineOf(
  collections: ReadDeps['collections'],
  file: FileRecord,
): Promise<{ heading: string; part: number }[]> {
  const headings = new Map<string, number>()
  for await (const chunk of eachChunk(collections, file, 0, outlinedChunks)) addHeadings(headings, chunk)
  const entries = [...headings].map(([heading, part]) => ({ heading, part, depth: heading.split(' > ').length }))
  const depths = [...new Set(entries.map(({ depth }) => depth))].toSorted((a, b) => b - a)
  const upTo = (most: number) => entries.filter(({ depth }) => depth <= most)
  const fitting = depths.find((depth) => upTo(depth).length <= outlineEntries) ?? depths.at(-1) ?? 0
  return upTo(fitting)
    .slice(0, outlineEntries)
    .map(({ heading, part }) => ({ heading: cutText(heading, headingCharacters), part }))
}

/** With those above it: of many headings only these may be told. */
function addHeadings(headings: Map<string, number>, { heading, position }: FileChunk): void {
  const path = heading?.split(' > ') ?? []
  for (let depth = 1; depth <= path.length; depth++) {
    const above = path.slice(0, depth).join(' > ')
    if (!headings.has(above)) headings.set(above, Math.floor(position / chunksInPart) + 1)
  }
}

/** The names of files for a model, in quotation marks: `"a.pdf", "b.docx" and others`. */
export function listNames(names: string[], hasMore: boolean): string {
  const listed: string[] = []
  let room = namesCharacters
  for (const name of new Set(names)) {
    const quoted = JSON.stringify(cutText(name, nameCharacters))
    room -= quoted.length
    if (room < 0) return `${listed.join(', ')} and others`
    listed.push(quoted)
  }
  return hasMore ? `${listed.join(', ')} and others` : listed.join(', ')
}

/** The file of these that a model means, which may leave out the ending or write it in small letters. */
export function namedAmong(names: string[], wanted: string): string {
  const name = wanted.normalize('NFC').trim()
  if (names.includes(name)) return name
  const words = (text: string) => documentName({ name: text }).toLowerCase()
  return names.find((one) => words(one) === words(name)) ?? name
}
