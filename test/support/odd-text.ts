import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { utils, write } from '@e965/xlsx'
import { pdf } from './hostile-files.ts'
import { unzip, zip } from './zip.ts'

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** What breaks careless readers: line ends, control characters, private use, characters that are none, marks of direction. */
const oddCharacters = [
  ...range(0x00, 0x1f),
  ...range(0x7f, 0x9f),
  0x2028,
  0x2029,
  0x200b,
  0x202e,
  0xfeff,
  0xfdd0,
  0xfffe,
  0xffff,
  0xe000,
  0xf8ff,
  0xf0000,
  0x10fffd,
  0x1ffff,
].map((code) => String.fromCodePoint(code))

/** Halves of a pair alone, and a pair the wrong way round. */
const loneSurrogates = ['\ud800', '\udbff', '\udc00', '\udfff', '\udc00\ud800']

const prose =
  'The dredging of the western basin took all of the summer, and the harbour board paid for it in three parts. '.repeat(
    2,
  )

/** Each odd character between two words. */
const between = (characters: string[]) =>
  characters.map((character, index) => `left${index}${character}right${index} ${prose}`).join(' ')

/** Characters that come back as they are. In cells and office files a line end may become a space. */
const privateCharacters = ['\ue000', '\uf8ff', '\u{f0000}', '\u{10fffd}']
const keptInText = ['\u2028', '\u2029', ...privateCharacters]

export interface OddFile {
  name: string
  content: Buffer
  /** Words that a reader must find, in this order. */
  words: string[]
  /** Texts that come back as they are. */
  exact: string[]
}

const all = [...oddCharacters, ...loneSurrogates]
const wordsOf = (characters: string[]) => characters.flatMap((_, index) => [`left${index}`, `right${index}`])
const exactOf = (characters: string[], kept: string[]) =>
  characters.flatMap((character, index) => (kept.includes(character) ? [`left${index}${character}right${index}`] : []))

function oddFile(
  name: string,
  make: (text: string) => Buffer | string,
  { characters = all, kept = keptInText } = {},
): OddFile {
  return {
    name,
    content: Buffer.from(make(between(characters))),
    words: wordsOf(characters),
    exact: exactOf(characters, kept),
  }
}

const bom = '\ufeff'

/** A file of each format that is read, with every odd character that the format can hold. */
export function oddFiles(): OddFile[] {
  return [
    oddFile('odd.txt', (text) => text, { characters: oddCharacters }),
    oddFile('utf16.txt', (text) => Buffer.from(bom + text, 'utf16le')),
    oddFile('halves.txt', inThreeBytes, { characters: loneSurrogates }),
    oddFile('odd.py', (text) => `text = """${text}"""`, { characters: oddCharacters }),
    oddFile('odd.md', (text) => `# Title\n\n${text}\n\n- ${text}`, { characters: oddCharacters }),
    oddFile('odd.html', (text) => `<!doctype html><body><h1>Title</h1><p>${markup(text)}</p></body>`),
    oddFile('odd.xml', (text) => `<?xml version="1.0"?><a><b>${markup(text)}</b></a>`),
    oddFile('odd.csv', (text) => `Name,Text\nAmalia,"${text}"\n`, {
      characters: oddCharacters,
      kept: privateCharacters,
    }),
    oddFile('odd.tsv', (text) => `Name\tText\nAmalia\t"${text}"\n`, {
      characters: oddCharacters,
      kept: privateCharacters,
    }),
    oddFile('odd.json', (text) => JSON.stringify({ text, [`key${text.slice(0, 100)}`]: 1 })),
    oddFile('odd.jsonl', (text) => `${JSON.stringify({ text })}\n${JSON.stringify({ text: 'last' })}\n`),
    oddFile('odd.rtf', rtf),
    ...['harbour-pandoc.docx', 'harbour.pptx', 'harbour.odt', 'harbour.odp', 'harbour.epub'].map((name) =>
      oddFile(name, (text) => inFixture(name, markup(text)), { kept: privateCharacters }),
    ),
    ...(['xlsx', 'ods', 'biff8'] as const).map((type) =>
      oddFile(`odd.${type === 'biff8' ? 'xls' : type}`, (text) => workbook(text, type), {
        kept: privateCharacters,
      }),
    ),
    pdfFile(),
  ]
}

/** UTF-8 does not allow halves of a pair; some programs write them all the same, in three bytes each. */
function inThreeBytes(text: string): Buffer {
  return Buffer.concat(
    text.split('').map((character) => {
      const code = character.charCodeAt(0)
      if ((code & 0xf800) !== 0xd800) return Buffer.from(character)
      return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)])
    }),
  )
}

/** As it is where XML allows it; else by a reference, which no reader should have to understand. */
function markup(text: string): string {
  return text.replace(
    /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (character) => `&#x${character.charCodeAt(0).toString(16)};`,
  )
}

function rtf(text: string): string {
  const escaped = text
    .split('')
    .map((character) => {
      const code = character.charCodeAt(0)
      return code < 0x20 || code > 0x7e ? `\\u${code > 0x7fff ? code - 0x10000 : code}?` : character
    })
    .join('')
  return `{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Arial;}}\\f0 ${escaped}\\par}`
}

/** A document made by other software, in which the name of a ship is replaced. */
function inFixture(name: string, text: string): Buffer {
  const entries = unzip(readFileSync(join(import.meta.dirname, '../knowledge/fixtures', name)))
  return zip(
    entries.map(({ name: path, data }) => {
      if (!/\.x?html?$|\.xml$/.test(path)) return { name: path, data }
      return { name: path, data: Buffer.from(data.toString('utf8').replace('Amalia', () => text)) }
    }),
  )
}

function workbook(text: string, bookType: 'xlsx' | 'ods' | 'biff8'): Buffer {
  // A cell of Excel 97 has at most 32,767 characters.
  const cells = text.split(prose).filter((cell) => cell.trim() !== '')
  const sheet = utils.aoa_to_sheet([['Text'], ...cells.map((cell) => [cell])])
  const bytes: unknown = write({ SheetNames: ['Odd'], Sheets: { Odd: sheet } }, { bookType, type: 'buffer' })
  if (!Buffer.isBuffer(bytes)) throw new Error('no workbook')
  return bytes
}

/** Codes from 128 on show odd characters: so says the font's own table. */
function pdfFile(): OddFile {
  const characters = [...loneSurrogates.filter((half) => half.length === 1), ...oddCharacters]
  const code = (index: number) => (index + 128).toString(16)
  const hex = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('hex')
  const lines = characters.map((_, index) => `(left${index}\\${(index + 128).toString(8)}right${index}) Tj T*`)
  const table = characters.map((character, index) => `<${code(index)}> <${hex(character)}>`)
  const groups = Array.from({ length: Math.ceil(table.length / 100) }, (_, group) => {
    const rows = table.slice(group * 100, group * 100 + 100)
    return `${rows.length} beginbfchar\n${rows.join('\n')}\nendbfchar`
  })
  const content = pdf(`BT /F1 6 Tf 20 780 Td 7 TL\n${lines.join('\n')}\nET`, {
    pages: 1,
    toUnicode: `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n1 begincodespacerange\n<00> <ff>\nendcodespacerange\n${groups.join('\n')}\nendcmap end end`,
  })
  return { name: 'odd.pdf', content, words: wordsOf(characters), exact: exactOf(characters, keptInText) }
}
