import { rowsOf } from '../../../lib/delimited.ts'
import { texts } from '../../../texts/index.ts'

const rowsAround = 100

/** A table in a text file: its head, and the rows around the quoted one. */
export function TableText({ text, quote }: { text: string; quote: string }) {
  const [head = [], ...rows] = rowsOf(text)
  const place = rows.findIndex((row) => isQuoted(row, quote))
  const first = Math.max(0, place - rowsAround)
  const shown = rows.slice(first, first + 2 * rowsAround)
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={column} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            <tr key={first + index} className={first + index === place ? 'quoted-row' : undefined}>
              {row.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && <p className="muted small">{texts.source.rows(shown.length, rows.length)}</p>}
    </div>
  )
}

/** A quote of a table gives the cells of a row, with the heads of their columns. */
function isQuoted(row: string[], quote: string): boolean {
  const cells = row.map((cell) => cell.trim()).filter((cell) => cell !== '')
  return cells.length > 0 && cells.every((cell) => quote.includes(cell))
}
