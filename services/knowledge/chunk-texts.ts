import type { FileChunk } from '../../domain/records/chunk-group.ts'

interface NamedFile {
  name: string
  web?: { title?: string } | undefined
}

/** How often words of a document's name count. A question names its document more often than any other word of it. */
const nameWeight = 3

/**
 * What of a chunk is embedded: whose report a table is from, and which part of it, often stands only in the name of the
 * file and in the headings above.
 */
export function embeddedText(file: NamedFile, chunk: Pick<FileChunk, 'text' | 'heading'>): string {
  return [documentName(file), withHeading(chunk)].filter((part) => part !== '').join('\n')
}

/** What of a chunk is found by its words. */
export function searchedText(file: NamedFile, chunk: Pick<FileChunk, 'text' | 'heading'>): string {
  return `${`${documentName(file)}\n`.repeat(nameWeight)}${withHeading(chunk)}`
}

function withHeading({ heading, text }: Pick<FileChunk, 'text' | 'heading'>): string {
  return heading === undefined || text.startsWith(heading) ? text : `${heading}\n${text}`
}

/** The title of a page, or the name of a file as words: `annual-report_2023.pdf` is `annual report 2023`. */
function documentName({ name, web }: NamedFile): string {
  return (
    web?.title ??
    name
      .replace(/\.\w{1,5}$/, '')
      .replaceAll(/[_\-.\s]+/g, ' ')
      .trim()
  )
}
