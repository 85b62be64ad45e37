import type { FileChunk } from '../../domain/records/chunk-group.ts'

type ChunkText = Pick<FileChunk, 'text' | 'heading' | 'caption'>

interface NamedFile {
  name: string
  web?: { title?: string } | undefined
}

/**
 * By what a chunk is found, by meaning and by words: whose report a table is from, and which part of it, often stands only
 * in the name of the file, in the headings above, and in the caption of the table.
 */
export function searchedText(file: NamedFile, chunk: ChunkText): string {
  return [documentName(file), withHeading(chunk)].filter((part) => part !== '').join('\n')
}

/** The text below the headings and the caption that it does not have itself. */
export function withHeading({ heading, caption, text }: ChunkText): string {
  const above = [heading === undefined || text.startsWith(heading) ? undefined : heading, caption]
  return [...above.filter((part) => part !== undefined), text].join('\n')
}

/** The title of a page, or the name of a file as words: `annual-report_2023.pdf` is `annual report 2023`. */
export function documentName({ name, web }: NamedFile): string {
  return (
    web?.title ??
    name
      .replace(/\.\w{1,5}$/, '')
      .replaceAll(/[_\-.\s]+/g, ' ')
      .trim()
  )
}
