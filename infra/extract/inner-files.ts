import type { Block } from '../../domain/chunking/block.ts'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'

interface InnerFile {
  /** With its path in the file around it. */
  name: string
  /** How many bytes `content` gives. */
  size: number
  content(): Buffer | Promise<Buffer>
}

/** Reads files that are in other files, such as attachments of mails and entries of archives. */
export interface InnerFiles {
  /**
   * The name as a heading below so many others, and the file below it. A file that cannot be read is named with the
   * reason.
   */
  read(file: InnerFile, above?: number): AsyncGenerator<Block>
  /** Whether files in this one may hold further ones. */
  canGoDeeper: boolean
}

/** A mail in an archive in an attachment. */
const deepest = 3
const maxFiles = 2000
const freeBytes = 64 * 1024 * 1024
/** Texts are packed to a tenth; what is packed to a hundredth was made to hurt. */
const maxRatio = 100

type ReadInner = (file: { name: string; content: Buffer }, inner: InnerFiles) => AsyncGenerator<Block>

/** Of all files together: no reason to leave out one of them. */
class TooMuch extends UnreadableFile {
  constructor() {
    super('too_large', 'This file holds more files, or larger ones, than can be read.')
  }
}

/** Why one of the files is not read. */
function reasonOf(error: unknown): string {
  if (error instanceof TooMuch) throw error
  return error instanceof UnreadableFile ? error.message : 'This file is damaged and cannot be read.'
}

export const notRead = (what: string, error: unknown): Block => ({
  kind: 'text',
  text: `(not read: ${what}. ${reasonOf(error)})`,
})

/** The limits are those of the whole file, however deep it is packed. */
export function createInnerFiles(size: number, readInner: ReadInner): InnerFiles {
  let bytes = Math.max(freeBytes, size * maxRatio)
  let files = 0

  function at(depth: number): InnerFiles {
    return {
      canGoDeeper: depth < deepest,
      async *read({ name, size: unpacked, content }, above = 0) {
        bytes -= unpacked
        files += 1
        if (bytes < 0 || files > maxFiles) throw new TooMuch()
        const title = name.replace(/\s+/g, ' ').trim().slice(0, 200).toWellFormed()
        yield { kind: 'heading', level: 1 + above, text: title }
        try {
          for await (const block of readInner({ name, content: await content() }, at(depth + 1)))
            yield block.kind === 'heading' ? { ...block, level: block.level + 1 + above } : block
        } catch (error) {
          yield notRead(title, error)
        }
      },
    }
  }

  return at(1)
}
