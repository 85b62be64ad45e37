import type { Block } from '../../domain/chunking/block.ts'

/**
 * Rows of a table as blocks. The first row that looks like one gives the header, and every later row
 * is written as `header: value; header: value`, so that a chunk cut out of the middle of a table still
 * says what its numbers are.
 */
export function createTableWriter(options: { page?: number; hasHeader?: boolean } = {}) {
  const place = options.page === undefined ? {} : { page: options.page }
  let header: string[] | undefined
  let isHeaderUsed = false
  let seen = 0

  return {
    row(cells: string[]): Block | undefined {
      const values = cells.map((cell) => cell.replace(/\s+/g, ' ').trim())
      const filled = values.filter((value) => value !== '')
      if (filled.length === 0) return undefined
      seen++
      if (!header && seen <= 5 && (options.hasHeader === true || looksLikeHeader(values, filled))) {
        header = values
        return undefined
      }
      isHeaderUsed = true
      return { kind: 'row', text: header ? named(header, values) : filled.join('; '), ...place }
    },

    /** A table of one row has no header: its row is content. */
    end(): Block | undefined {
      if (!header || isHeaderUsed) return undefined
      return { kind: 'row', text: header.filter((value) => value !== '').join('; '), ...place }
    },
  }
}

export type TableWriter = ReturnType<typeof createTableWriter>

function looksLikeHeader(values: string[], filled: string[]): boolean {
  return values.length > 1 && filled.length > 1 && filled.every(isName)
}

/** Short, and neither a number nor an amount nor a date in figures. */
function isName(value: string): boolean {
  return value.length <= 120 && !/^[-+(]?[\d.,\s%€$£:/-]+\)?$/.test(value)
}

function named(header: string[], values: string[]): string {
  const parts: string[] = []
  for (const [index, value] of values.entries()) {
    if (value === '') continue
    const name = header[index]
    parts.push(name === undefined || name === '' ? value : `${name}: ${value}`)
  }
  return parts.join('; ')
}
