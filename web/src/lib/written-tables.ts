import { rowsOf } from './delimited.ts'

/** A table as GitHub Flavored Markdown writes it; the first row is the header. */
export function markdownTableOf(rows: string[][]): string {
  const [header = [], ...body] = rows.map((row) =>
    row.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()),
  )
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...body.map(line)].join('\n')
}

/** Rows as comma separated values (RFC 4180), without a line break at the end. */
export function csvOf(rows: (string | number)[][]): string {
  return rows.map((row) => row.map(csvCell).join(',')).join('\r\n')
}

/** A spreadsheet takes a text that begins with one of these for a formula, unless it is a number. */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) && !/^[+-][\d.,\s]+%?$/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Cells that were copied in a spreadsheet, as a table in Markdown; undefined for anything else. A spreadsheet also
 * gives a picture of them, which nobody wants to send.
 */
export function pastedCells(clipboard: { getData(type: string): string }): string | undefined {
  const text = clipboard.getData('text/plain')
  if (!text.includes('\t') || !/<table[\s>]/i.test(clipboard.getData('text/html'))) return undefined
  return `${markdownTableOf(rowsOf(text))}\n`
}
