import { charsetOfPage } from '../locale-charset.ts'
import { isSymbolFont, textOfSymbols } from '../symbol-font.ts'

/** Character sets of fonts (`\fcharset`) by the names that the web gives them. */
const byFont = new Map([
  [0, 'windows-1252'],
  [77, 'macintosh'],
  [128, 'shift_jis'],
  [129, 'euc-kr'],
  [134, 'gbk'],
  [136, 'big5'],
  [161, 'windows-1253'],
  [162, 'windows-1254'],
  [163, 'windows-1258'],
  [177, 'windows-1255'],
  [178, 'windows-1256'],
  [186, 'windows-1257'],
  [204, 'windows-1251'],
  [222, 'windows-874'],
  [238, 'windows-1250'],
])

const maxFonts = 10_000

/** The code pages of the fonts of a document, and of text that names none. */
export function createFonts(charset = 'windows-1252') {
  const charsets = new Map<number, string>()
  const decoders = new Map<string, InstanceType<typeof TextDecoder>>()
  const symbols = new Set<number>()
  let usual = charset

  return {
    setPage(page: number): void {
      usual = charsetOfPage(page) ?? usual
    },
    /** A font of the table; character set 1 is that of the document. */
    add(font: number, charset: number): void {
      const name = byFont.get(charset)
      if (name !== undefined && charset !== 0 && charsets.size < maxFonts) charsets.set(font, name)
    },
    /** The beginning of the name of a font. */
    name(font: number, name: string): void {
      if (isSymbolFont(name) && symbols.size < maxFonts) symbols.add(font)
    },
    /** What a text says that the font draws. */
    shown: (text: string, font: number | undefined): string =>
      font !== undefined && symbols.has(font) ? textOfSymbols(text) : text,
    decode(bytes: string, font: number | undefined): string {
      if (font !== undefined && symbols.has(font)) return bytes
      // eslint-disable-next-line no-control-regex
      if (/^[\0-\x7f]*$/.test(bytes)) return bytes
      const charset = (font === undefined ? undefined : charsets.get(font)) ?? usual
      const decoder = decoders.get(charset) ?? new TextDecoder(charset)
      decoders.set(charset, decoder)
      return decoder.decode(Buffer.from(bytes, 'latin1'))
    },
  }
}
