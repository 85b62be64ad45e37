/** The rows of a text with comma, semicolon or tab separated values (RFC 4180). */
export function rowsOf(text: string): string[][] {
  const firstLine = text.slice(0, text.indexOf('\n') < 0 ? undefined : text.indexOf('\n'))
  const separator = ['\t', ';', ','].find((one) => firstLine.includes(one)) ?? ','
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  const endCell = () => {
    row.push(cell)
    cell = ''
  }
  const endRow = () => {
    endCell()
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  for (let place = 0; place < text.length; place += 1) {
    const letter = text.charAt(place)
    if (isQuoted) {
      if (letter !== '"') cell += letter
      else if (text[place + 1] === '"') cell += text.charAt((place += 1))
      else isQuoted = false
    } else if (letter === '"' && cell === '') isQuoted = true
    else if (letter === separator) endCell()
    else if (letter === '\n') endRow()
    else if (letter !== '\r' && letter !== '\uFEFF') cell += letter
  }
  if (cell !== '' || row.length > 0) endRow()
  return rows
}
