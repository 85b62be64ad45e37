import Type from 'typebox'
import type { Chunk } from '../chunking/chunker.ts'
import type { PassageRows } from '../chunking/passage-rows.ts'
import { type PassagePage, pageRange } from '../chunking/sentence-pages.ts'
import { parseOwnJson } from '../json.ts'
import { type RecordOf, StoredId, declareRecord } from './declared-record.ts'

/** A chunk of a file, as it is embedded, found and quoted. */
export interface FileChunk {
  /** Position in the file, from 0, without gaps. */
  position: number
  text: string
  tokens: number
  /** The first page of the text. */
  page?: number
  last_page?: number
  pages?: PassagePage[]
  sheets?: PassageRows[]
  heading?: string
  /** What stands above the rows with which the text begins. */
  caption?: string
}

/**
 * Up to `chunksInGroup` consecutive chunks of a file in one record, because each record costs the database as much
 * as its text.
 */
const ChunkGroup = Type.Object({
  _id: StoredId,
  file_id: StoredId,
  assistant_id: StoredId,
  /** Position of the first chunk. */
  position: Type.Number(),
  /** Number of chunks. */
  count: Type.Number(),
  /** The chunks without their positions, as JSON: a fifth of the cost of the same as nested records. */
  chunks_json: Type.String({ minLength: 1 }),
})

export const chunkGroupRecord = declareRecord({
  model: 'Chunk',
  collection: 'chunks',
  schema: ChunkGroup,
  owners: [],
  // One index for queries by assistant and by file: a second one was a third of the cost of storing a chunk.
  indexes: [[{ assistant_id: 1, file_id: 1, position: 1 }]],
  archive: undefined,
})
export type ChunkGroupRecord = RecordOf<typeof chunkGroupRecord>

/**
 * A group begins at a multiple of this position, so that the id of a chunk's group follows from the chunk's position.
 * Stored records depend on it: it cannot be changed.
 */
export const chunksInGroup = 32

/** The id of a chunk in the vector store. */
export function chunkId(fileId: string, position: number): string {
  return `${fileId}:${position}`
}

/** The position at which the group of a chunk begins. */
export function groupStart(position: number): number {
  return position - (position % chunksInGroup)
}

/** The id of the record that holds the chunk at this position. */
export function groupId(fileId: string, position: number): string {
  return `${fileId}:group:${groupStart(position)}`
}

/** The records of chunks that follow each other, of which the first has the given position. */
export function toGroups(
  file: { _id: string; assistant_id: string },
  position: number,
  chunks: Omit<FileChunk, 'position'>[],
): ChunkGroupRecord[] {
  const groups: ChunkGroupRecord[] = []
  for (let taken = 0; taken < chunks.length;) {
    const first = position + taken
    const members = chunks.slice(taken, groupStart(first) + chunksInGroup - position)
    groups.push({
      _id: groupId(file._id, first),
      file_id: file._id,
      assistant_id: file.assistant_id,
      position: first,
      count: members.length,
      chunks_json: JSON.stringify(members),
    })
    taken += members.length
  }
  return groups
}

/** The chunks of a record, in order. */
export function chunksOf({ position, chunks_json: json }: ChunkGroupRecord): FileChunk[] {
  const members = parseOwnJson<Omit<FileChunk, 'position'>[]>(json)
  return members.map((chunk, index) => ({ position: position + index, ...chunk }))
}

/** What is stored of a chunk that was read. */
export function toFileChunk({ text, tokens, pages, sheets, heading, caption }: Chunk): Omit<FileChunk, 'position'> {
  return {
    text,
    tokens,
    ...(pages === undefined ? {} : { ...pageRange(pages), pages }),
    ...(sheets === undefined ? {} : { sheets }),
    ...(heading === undefined ? {} : { heading }),
    ...(caption === undefined ? {} : { caption }),
  }
}
