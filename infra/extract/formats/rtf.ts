import type { Block } from '../../../domain/chunking/block.ts'
import { type Content, bytesOf } from '../content.ts'
import { readRtfText } from '../rtf/reader.ts'

/** RTF: headings, paragraphs and lists with their numbers, tables, notes, text boxes, header and footer once. */
export async function* readRtf(content: Content): AsyncGenerator<Block> {
  yield* readRtfText((await bytesOf(content)).toString('latin1'))
}
