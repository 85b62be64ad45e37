import type { Block } from '../../domain/chunking/block.ts'

/**
 * Rows of a table as blocks. The first row that looks like a header is the header, and every later row is written
 * as `header: value; header: value`, so that a chunk from the middle of a table still says what its numbers mean.
 */
export function createTableWriter(options: { page?: number; hasHeader?: boolean } = {}) {
  const place = options.page === undefined ? {} : { page: options.page }
  let header: Map<number, string> | undefined
  let isHeaderUsed = false
  let seen = 0

  /** A row by the positions of its cells, for sheets whose cells may be a million columns apart. */
  function sparseRow(cells: Iterable<[column: number, text: string]>): Block | undefined {
    const filled = new Map<number, string>()
    for (const [column, cell] of cells) {
      const value = cell.replace(/\s+/g, ' ').trim()
      if (value !== '') filled.set(column, value)
    }
    if (filled.size === 0) return undefined
    seen++
    if (!header && seen <= 5 && (options.hasHeader === true || looksLikeHeader(filled))) {
      header = filled
      return undefined
    }
    isHeaderUsed = true
    return { kind: 'row', text: header ? named(header, filled) : [...filled.values()].join('; '), ...place }
  }

  return {
    sparseRow,
    row: (cells: string[]): Block | undefined => sparseRow(cells.entries()),

    /** A table of one row has no header: its row is content. */
    end(): Block | undefined {
      if (!header || isHeaderUsed) return undefined
      return { kind: 'row', text: [...header.values()].join('; '), ...place }
    },
  }
}

export type TableWriter = ReturnType<typeof createTableWriter>

/** Longer names are cut: they are repeated in every row. */
const nameCharacters = 120

function looksLikeHeader(filled: Map<number, string>): boolean {
  return filled.size > 1 && [...filled.values()].every(isName)
}

/** Short, and neither a number nor an amount nor a date in figures. */
function isName(value: string): boolean {
  return value.length <= nameCharacters && !/^[-+(]?[\d.,\s%€$£:/-]+\)?$/.test(value)
}

function named(header: Map<number, string>, row: Map<number, string>): string {
  const parts: string[] = []
  for (const [column, value] of row) {
    const name = header.get(column)?.slice(0, nameCharacters)
    parts.push(name === undefined ? value : `${name}: ${value}`)
  }
  return parts.join('; ')
}
