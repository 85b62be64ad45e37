import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Content, bytesOf } from '../content.ts'
import { readDocText } from '../doc/document.ts'

/** A document of Word 97 to 2003: headings and clauses with their numbers, tables, notes at their places. */
export async function* readDoc(content: Content): AsyncGenerator<Block> {
  const bytes = await bytesOf(content)
  try {
    yield* readDocText(bytes)
  } catch (error) {
    // A number in the file that points beyond its end.
    if (!(error instanceof RangeError)) throw error
    throw new UnreadableFile('damaged', 'This document is damaged and cannot be read.', { cause: error })
  }
}
