import { group, oldSlides, shape, text } from './old-slides.ts'
import { oldWord } from './old-word.ts'
import { zip } from './zip.ts'

interface SlowFile {
  what: string
  name: string
  /** The content, about `size` bytes long. */
  make: (size: number) => string | Buffer
}

const fill = (piece: string, size: number) => piece.repeat(Math.ceil(size / piece.length))
const between = (start: string, piece: string, end: string) => (size: number) => start + fill(piece, size) + end

const calendar = 'BEGIN:VCALENDAR\nBEGIN:VEVENT\n'
const contact = 'BEGIN:VCARD\nNOTE'

/** Each attacks one scanner: a pattern that backtracks, a list that is searched again and again. */
export const slowFiles: SlowFile[] = [
  { what: 'a page of empty comments', name: 'a.txt', make: between('', '<!---->', 'x') },
  { what: 'a page of comments with spaces', name: 'a.txt', make: between('', '<!-- --> ', '<x') },
  { what: 'a heading of spaces before a line separator', name: 'a.md', make: between('#', ' ', 'a\u2028b') },
  { what: 'a heading of marks', name: 'a.md', make: between('# a', '# ', 'b\u2028c') },
  { what: 'a table row of bars', name: 'a.md', make: between('|', '| ', 'x') },
  { what: 'a table row of spaces', name: 'a.md', make: between('|', ' ', 'x') },
  { what: 'an underline that is none', name: 'a.md', make: between('a\n', '=', ' x') },
  {
    what: 'a table whose header is long',
    name: 'a.md',
    make: (size) => `|${fill('a', size / 2)}|\n${fill('|b|\n', size / 2)}`,
  },
  { what: 'text of nothing but spaces', name: 'a.txt', make: between('a', ' ', 'b') },
  { what: 'text of line ends', name: 'a.txt', make: between('a', '\r', 'b') },
  { what: 'text of line separators', name: 'a.txt', make: between('a', '\u2028', 'b') },
  { what: 'text of tabs and form feeds', name: 'a.txt', make: between('a', '\t\f', 'b') },
  { what: 'text of full stops and quotes', name: 'a.txt', make: between('', '."', 'b') },
  { what: 'a full stop and many brackets', name: 'a.txt', make: between('a.', ')', 'b') },
  { what: 'text of aligned columns', name: 'a.txt', make: between('', 'a  1\n', '') },
  { what: 'text of tabs in lines', name: 'a.txt', make: between('', `a${'\t'.repeat(390)}1\n`, '') },
  {
    what: 'a style sheet of raised classes',
    name: 'a.html',
    make: between('<html><style>', '.a{vertical-align:sub}', ''),
  },
  {
    what: 'a document of Word 2003 of short paragraphs',
    name: 'a.xml',
    make: between('<?xml version="1.0"?><w:wordDocument xmlns:w="w">', '<w:p><w:r><w:t>a</w:t></w:r></w:p>', ''),
  },
  {
    what: 'a package of one file with open parts',
    name: 'a.xml',
    make: between('<?xml version="1.0"?><pkg:package>', '<pkg:part pkg:name="a">', ''),
  },
  { what: 'one letter', name: 'a.txt', make: between('', 'a', '') },
  { what: 'one ideograph', name: 'a.txt', make: (size) => fill('漢', size / 3) },
  { what: 'one emoji', name: 'a.txt', make: (size) => fill('👩‍👩‍👧', size / 18) },
  { what: 'accents upon accents', name: 'a.txt', make: (size) => `a${fill('\u0301', size / 2)}` },
  { what: 'apostrophes', name: 'a.txt', make: between('', "a'", '') },
  { what: 'source code of one line', name: 'a.ts', make: between('', 'a;', '') },
  { what: 'CSV of quotes', name: 'a.csv', make: between('a,b\n', '"', '') },
  { what: 'CSV of quotes and commas', name: 'a.csv', make: between('a,b\n', '",', '') },
  { what: 'CSV of one row', name: 'a.csv', make: between('', 'a,', '') },
  { what: 'CSV of empty rows', name: 'a.csv', make: between('a,b\n', '\n', 'c,d') },
  {
    what: 'JSON of one long name',
    name: 'a.json',
    make: (size) => `{"${fill('a', size / 2)}":[${fill('1,', size / 2)}1]}`,
  },
  { what: 'JSON of brackets', name: 'a.json', make: between('', '[', '') },
  { what: 'JSON lines of nothing', name: 'a.jsonl', make: between('', '{}\n', '"a word"') },
  { what: 'a page of open elements', name: 'a.html', make: between('<html>', '<b>', 'x') },
  {
    what: 'a page of ends without starts',
    name: 'a.html',
    make: (size) => `<html>${'<i>'.repeat(1500)}word${fill('</b>', size)}`,
  },
  { what: 'a page of paragraphs in a form', name: 'a.html', make: between('<html><form>', '<p>a', '') },
  { what: 'a page of open tags', name: 'a.html', make: between('<html>', '<a ', 'x') },
  { what: 'a page of attributes', name: 'a.html', make: between('<html><a ', 'b=c ', '>word') },
  { what: 'a page of ampersands', name: 'a.html', make: between('<html>', '&a', 'x') },
  { what: 'a page of open comments', name: 'a.html', make: between('<html>', '<!--', 'x') },
  { what: 'a page of nested tables', name: 'a.html', make: between('<html>', '<table><tr><td>', 'x') },
  { what: 'a page that names its charset often', name: 'a.html', make: between('<html>', '<meta charset ', 'x') },
  { what: 'XML of processing instructions', name: 'a.xml', make: between('<?xml', ' <?', 'x') },
  {
    what: 'XML of nested entities',
    name: 'a.xml',
    make: between('<?xml version="1.0"?><!DOCTYPE a [', '<!ENTITY b "c">', ']><a>word</a>'),
  },
  { what: 'RTF of groups', name: 'a.rtf', make: between('{\\rtf1 ', '{', 'word') },
  { what: 'RTF of control words', name: 'a.rtf', make: between('{\\rtf1 ', '\\b', ' word}') },
  { what: 'RTF of hexadecimal characters', name: 'a.rtf', make: between('{\\rtf1 ', "\\'e4", '}') },
  {
    what: 'bytes that look like words in two encodings',
    name: 'a.bin',
    make: (size) => Buffer.from(fill('\u0001word\u0004 ', size), 'latin1'),
  },
  { what: 'a calendar of folded lines', name: 'a.ics', make: between(`${calendar}SUMMARY:a\n`, ' b\n', '') },
  { what: 'a calendar of events without an end', name: 'a.ics', make: between(calendar, 'BEGIN:VEVENT\n', '') },
  { what: 'a calendar of parameters', name: 'a.ics', make: between(`${calendar}SUMMARY`, ';a="b"', ':word') },
  { what: 'a calendar of repetitions', name: 'a.ics', make: between(`${calendar}RRULE:FREQ=DAILY`, ';BYDAY=1MO,', '') },
  { what: 'a contact of soft ends of lines', name: 'a.vcf', make: between(`${contact};ENCODING=`, '=\n', '') },
  {
    what: 'contacts of soft ends of lines',
    name: 'a.vcf',
    make: between(contact, `;QUOTED-PRINTABLE:${'=\n'.repeat(5000)}\nNOTE`, ':word'),
  },
  { what: 'a contact of escaped separators', name: 'a.vcf', make: between(`${contact}:word\nADR:`, '\\;\\', '') },
  { what: 'a page of choices', name: 'a.html', make: between('<html><select>', '<option selected>a', '') },
  { what: 'a page of fields', name: 'a.html', make: between('<html>', '<input value=a><textarea>', '') },
  {
    what: 'a notebook of cells',
    name: 'a.ipynb',
    make: between('{"cells":[', '{"cell_type":"code","source":"a"},', '0]}'),
  },
  {
    what: 'a mail of parts',
    name: 'a.eml',
    make: between('Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n', '--b\n\na\n', ''),
  },
  { what: 'a mail of fields', name: 'a.eml', make: between('Subject: a\n', 'To: a@b.c,\n d@e.f\n', '\nword') },
  {
    what: 'a mailbox of mails',
    name: 'a.mbox',
    make: between('', 'From a@b.c Mon Jan  5 10:00:00 2026\nSubject: a\n\nb\n\n', ''),
  },
  { what: 'a PDF of open objects', name: 'a.pdf', make: between('%PDF-1.7\n', '1 0 obj<<', '') },
  { what: 'a PDF of numbers', name: 'a.pdf', make: between('%PDF-1.7\n', '9', '') },
  { what: 'a PDF of cross references', name: 'a.pdf', make: between('%PDF-1.7\n', 'startxref\n9\n', '%%EOF') },
  ...documents(),
  { what: 'an old document of cells', name: 'a.doc', make: (size) => oldWord([{ text: fill('a\x07', size / 2) }]) },
  { what: 'an old document of fields', name: 'a.doc', make: (size) => oldWord([{ text: fill('\x13', size / 2) }]) },
  {
    what: 'an old document of deep tables',
    name: 'a.doc',
    make: (size) =>
      oldWord(
        Array.from({ length: Math.ceil(size / 1100) }, (_, index) => ({
          text: 'a\r',
          properties: [
            [0x24_16, 1],
            [0x66_49, index % 30, 0, 0, 0],
          ],
        })),
      ),
  },
  {
    what: 'old slides of one shape each',
    name: 'a.ppt',
    make: (size) =>
      oldSlides(
        Array.from({ length: Math.ceil(size / 400) }, () => ({ shapes: [shape([0, 0, 9, 9], [text(4, 'a')])] })),
      ),
  },
  {
    what: 'an old slide with a table of one row',
    name: 'a.ppt',
    make: (size) =>
      oldSlides([
        {
          shapes: [
            group(
              Array.from({ length: Math.ceil(size / 80) }, (_, at) => shape([at, at, at + 1, at + 1], [text(4, 'a')])),
              true,
            ),
          ],
        },
      ]),
  },
]

/** Office files hold XML: the same attacks, inside of an archive. */
function documents(): SlowFile[] {
  const word = (body: (size: number) => string) => (size: number) =>
    archive({
      '[Content_Types].xml': types('word/document', 'wordprocessingml.document.main'),
      'word/document.xml': xml(
        `w:document xmlns:w="${office}/wordprocessingml/2006/main"`,
        'w:document',
        `<w:body>${body(size)}</w:body>`,
      ),
    })
  const sheet =
    (rows: (size: number) => string, dimension = 'A1:B2') =>
    (size: number) =>
      archive({
        '[Content_Types].xml': types('xl/workbook', 'spreadsheetml.sheet.main'),
        '_rels/.rels': relations('officeDocument', 'xl/workbook.xml'),
        'xl/workbook.xml': xml(
          `workbook xmlns="${office}/spreadsheetml/2006/main" xmlns:r="${office}/officeDocument/2006/relationships"`,
          'workbook',
          '<sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets>',
        ),
        'xl/_rels/workbook.xml.rels': relations('worksheet', 'worksheets/sheet1.xml'),
        'xl/worksheets/sheet1.xml': xml(
          `worksheet xmlns="${office}/spreadsheetml/2006/main"`,
          'worksheet',
          `<dimension ref="${dimension}"/><sheetData>${rows(size)}</sheetData>`,
        ),
      })
  const cell = (place: string) => `<c r="${place}" t="inlineStr"><is><t>word</t></is></c>`
  const opened = (kind: string, body: (size: number) => string) => (size: number) =>
    archive({
      mimetype: `application/vnd.oasis.opendocument.${kind}`,
      'content.xml': xml(
        'office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"',
        'office:document-content',
        `<office:body>${body(size)}</office:body>`,
      ),
    })
  return [
    { what: 'a document of empty paragraphs', name: 'a.docx', make: word((size) => fill('<w:p/>', size)) },
    {
      what: 'a document of short paragraphs',
      name: 'a.docx',
      make: word((size) => fill('<w:p><w:r><w:t>a</w:t></w:r></w:p>', size)),
    },
    {
      what: 'a document of nested tables',
      name: 'a.docx',
      make: word((size) => fill('<w:tbl><w:tr><w:tc>', Math.min(size, 40_000))),
    },
    {
      what: 'a document of footnotes',
      name: 'a.docx',
      make: word((size) => fill('<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>', size)),
    },
    { what: 'a document of open tags', name: 'a.docx', make: word((size) => fill('<w:t ', size)) },
    {
      what: 'a document of deep headings',
      name: 'a.docx',
      make: word((size) => fill('<w:p><w:pPr><w:outlineLvl w:val="8"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>', size)),
    },
    {
      what: 'a sheet of two cells a world apart',
      name: 'a.xlsx',
      make: sheet(() => `<row r="1">${cell('A1')}</row><row r="1048576">${cell('XFD1048576')}</row>`, 'A1:XFD1048576'),
    },
    {
      what: 'a sheet of rows with one far cell each',
      name: 'a.xlsx',
      make: sheet((size) =>
        Array.from(
          { length: Math.ceil(size / 70) },
          (_, row) => `<row r="${row + 1}">${cell(`XFD${row + 1}`)}</row>`,
        ).join(''),
      ),
    },
    { what: 'a sheet of open cells', name: 'a.xlsx', make: sheet((size) => fill('<c r="A1" ', size)) },
    {
      what: 'a sheet of one cell again and again',
      name: 'a.xlsx',
      make: sheet((size) => `<row r="1">${fill(cell('A1'), size)}</row>`),
    },
    {
      what: 'a sheet whose rows are repeated without end',
      name: 'a.ods',
      make: opened(
        'spreadsheet',
        () =>
          '<office:spreadsheet><table:table table:name="S"><table:table-row table:number-rows-repeated="1048576"><table:table-cell office:value-type="string" table:number-columns-repeated="16384"><text:p>a</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>',
      ),
    },
    {
      what: 'a text of repeated spaces',
      name: 'a.odt',
      make: opened(
        'text',
        (size) => `<office:text><text:p>${fill('<text:s text:c="9"/>', size)}word</text:p></office:text>`,
      ),
    },
    {
      what: 'a text of nested lists',
      name: 'a.odt',
      make: opened(
        'text',
        (size) => `<office:text>${fill('<text:list><text:list-item>', Math.min(size, 40_000))}</office:text>`,
      ),
    },
  ]
}

const office = 'http://schemas.openxmlformats.org'
const xml = (start: string, end: string, content: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><${start}>${content}</${end}>`
const types = (part: string, kind: string) =>
  xml(
    `Types xmlns="${office}/package/2006/content-types"`,
    'Types',
    `<Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.${kind}+xml"/>`,
  )
const relations = (kind: string, target: string) =>
  xml(
    `Relationships xmlns="${office}/package/2006/relationships"`,
    'Relationships',
    `<Relationship Id="rId1" Type="${office}/officeDocument/2006/relationships/${kind}" Target="${target}"/>`,
  )
const archive = (files: Record<string, string>) =>
  zip(Object.entries(files).map(([name, data]) => ({ name, data: Buffer.from(data) })))
