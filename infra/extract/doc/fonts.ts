const maxFonts = 5000

export interface DocFont {
  name: string
  /** The number of the character set of its letters. */
  charset: number
}

/** The fonts by their numbers ([MS-DOC] 2.9.286): of some the letters are signs. */
export function readFonts(bytes: Buffer, isOld = false): DocFont[] {
  const fonts: DocFont[] = []
  if (bytes.length < 4) return fonts
  const count = isOld ? maxFonts : Math.min(bytes.readUInt16LE(0), maxFonts)
  for (let at = isOld ? 2 : 4; fonts.length < count && at + 6 <= bytes.length;) {
    const length = bytes.readUInt8(at)
    const given = bytes.subarray(at + (isOld ? 6 : 40), at + 1 + length)
    const [name = ''] = given.toString(isOld ? 'latin1' : 'utf16le').split('\0', 1)
    fonts.push({ name, charset: bytes.readUInt8(at + 4) })
    at += 1 + length
  }
  return fonts
}
