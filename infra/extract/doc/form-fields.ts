const maxChoices = 200

/** What a box to tick or a list to choose from shows, by its data at `offset` ([MS-DOC] 2.9.78). */
export function formField(data: Buffer, offset: number, code: string): string {
  const kind = /^\s*FORM(CHECKBOX|DROPDOWN)\b/.exec(code)?.[1]
  if (kind === undefined || offset + 6 > data.length) return ''
  const length = data.readUInt32LE(offset)
  const field = data.subarray(offset + data.readUInt16LE(offset + 4), offset + length)
  if (field.length < 10) return ''
  const given = (field.readUInt16LE(4) >> 2) & 0x1f
  const texts = textsAt(field, 10, 1)
  const usual = texts.end + 2 <= field.length ? field.readUInt16LE(texts.end) : 0
  const chosen = given === 25 ? usual : given
  if (kind === 'CHECKBOX') return chosen === 1 ? '[x] ' : '[ ] '
  return choicesOf(field, texts.end + 2)[chosen] ?? ''
}

/** Behind the name of the field stand texts for those who fill it in, then the choices. */
function choicesOf(field: Buffer, start: number): string[] {
  let at = start
  // Format, help, status, and macros on entry and exit.
  at = textsAt(field, at, 5).end
  if (at + 8 > field.length || field.readUInt16LE(at) !== 0xff_ff) return []
  const count = Math.min(field.readUInt32LE(at + 2), maxChoices)
  const choices: string[] = []
  at += 8
  while (choices.length < count && at + 2 <= field.length) {
    const end = at + 2 + field.readUInt16LE(at) * 2
    choices.push(field.subarray(at + 2, end).toString('utf16le'))
    at = end
  }
  return choices
}

function textsAt(field: Buffer, start: number, count: number): { texts: string[]; end: number } {
  const texts: string[] = []
  let at = start
  while (texts.length < count && at + 2 <= field.length) {
    const end = at + 2 + field.readUInt16LE(at) * 2
    texts.push(field.subarray(at + 2, end).toString('utf16le'))
    at = end + 2
  }
  return { texts, end: at }
}
