import { zip } from './zip.ts'

/** Documents that were made to hurt the process that reads them. */

/** A Word document of some hundred kilobytes that unpacks to `megabytes` of paragraphs. */
export function docxBomb(megabytes: number): Buffer {
  const paragraph = `<w:p><w:r><w:t>${'A bomb. '.repeat(10)}</w:t></w:r></w:p>`
  const body = paragraph.repeat(Math.ceil((megabytes * 1024 * 1024) / paragraph.length))
  return docx(`<w:body>${body}</w:body>`)
}

/** An archive of some hundred kilobytes whose files unpack to `count` megabytes. */
export function zipBomb(count: number): Buffer {
  const data = Buffer.alloc(1024 * 1024, 'A bomb. ')
  return zip(Array.from({ length: count }, (_, index) => ({ name: `${index}.txt`, data })))
}

/** A mail whose parts are nested `depth` deep. */
export function deepMail(depth: number): Buffer {
  const parts = Array.from(
    { length: depth },
    (_, index) => `Content-Type: multipart/mixed; boundary="b${index}"\r\n\r\n--b${index}\r\n`,
  )
  return Buffer.from(
    `From: a@example.com\r\nSubject: Deep\r\nMIME-Version: 1.0\r\n${parts.join('')}Content-Type: text/plain\r\n\r\ncore\r\n`,
  )
}

/** A Word document whose elements are nested `depth` deep. */
export function deepDocx(depth: number): Buffer {
  return docx(
    `<w:body>${'<w:sdt><w:sdtContent>'.repeat(depth)}<w:p/>${'</w:sdtContent></w:sdt>'.repeat(depth)}</w:body>`,
  )
}

/** A text of some hundred bytes whose tables stand `depth` deep, each with its cell a hundred times. */
export function repeatedOdt(depth: number): Buffer {
  const begin = '<table:table><table:table-row><table:table-cell table:number-columns-repeated="100"><text:p>a</text:p>'
  return odt(`${begin.repeat(depth)}${'</table:table-cell></table:table-row></table:table>'.repeat(depth)}`)
}

/** A text of a few kilobytes whose elements are nested `depth` deep. */
export const deepOdt = (depth: number): Buffer => odt(`<text:p>${'<text:span>'.repeat(depth)}`)

function odt(text: string): Buffer {
  const content = `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:text>${text}</office:text></office:body></office:document-content>`
  return zip([
    { name: 'mimetype', data: Buffer.from('application/vnd.oasis.opendocument.text') },
    { name: 'content.xml', data: Buffer.from(content) },
  ])
}

function docx(body: string): Buffer {
  const types =
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
  const document = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">${body}</w:document>`
  return zip([
    { name: '[Content_Types].xml', data: Buffer.from(types) },
    { name: 'word/document.xml', data: Buffer.from(document) },
  ])
}

/** A small PDF that shows one page, full of text, `pages` times. */
export function endlessPdf(pages: number): Buffer {
  const line = '(Endless pages of the very same words, again and again and again.) Tj T*\n'
  return pdf(`BT /F1 9 Tf 40 780 Td 11 TL\n${line.repeat(60)}ET`, { pages })
}

/** A PDF of a few hundred kilobytes that takes its reader many minutes, of which nothing is heard: pages of drawings. */
export function silentPdf(): Buffer {
  return pdf('0 0 m 1 1 l S\n'.repeat(20_000), { pages: 20_000 })
}

/** A PDF that shows the same content on each page; `toUnicode` says what the codes of its font mean. */
export function pdf(content: string, { pages, toUnicode }: { pages: number; toUnicode?: string }): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages} /Kids [${'3 0 R '.repeat(pages)}] >>`,
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica${toUnicode === undefined ? '' : ' /ToUnicode 6 0 R'} >>`,
    ...(toUnicode === undefined ? [] : [`<< /Length ${toUnicode.length} >>\nstream\n${toUnicode}\nendstream`]),
  ]
  return pdfOf(objects)
}

/** A PDF of these objects, numbered from 1; the first is the catalogue. */
export function pdfOf(objects: string[]): Buffer {
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const xref = text.length
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`
  return Buffer.from(text, 'latin1')
}
