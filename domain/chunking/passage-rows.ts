import type { Unit } from './split-units.ts'

/** The rows of a passage that stand in one table. */
export interface PassageRows {
  /** The name of the sheet; absent for a file that is one table. */
  sheet?: string
  /** Counted from 1, as the program does that made the table; ascending. */
  rows: number[]
  /** Where each of them begins in the passage's text, in UTF-16 code units. */
  starts: number[]
}

/** The numbered rows of a passage made of `units`, of which the first `skipped` characters are left out. */
export function passageRows(
  units: (Unit & { sheet: string | undefined; row: number | undefined })[],
  skipped: number,
): PassageRows[] | undefined {
  const sheets: PassageRows[] = []
  let offset = -skipped
  for (const { text, sheet, row } of units) {
    const current = sheets.at(-1)
    const isSame = current !== undefined && current.sheet === sheet
    // A long row is several units.
    if (row !== undefined && !(isSame && current.rows.at(-1) === row)) {
      const start = Math.max(0, offset)
      if (isSame && (current.rows.at(-1) ?? 0) < row) {
        current.rows.push(row)
        current.starts.push(start)
      } else sheets.push({ ...(sheet === undefined ? {} : { sheet }), rows: [row], starts: [start] })
    }
    offset += text.length
  }
  return sheets.length === 0 ? undefined : sheets
}
