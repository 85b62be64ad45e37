import { zip } from './zip.ts'

/** Documents as office programs write them, of the XML that a test gives. */

const packageTypes = 'http://schemas.openxmlformats.org/package/2006/content-types'
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const sheetNames = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const sheetTypes = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const wordNames =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
const wordTypes = 'application/vnd.openxmlformats-officedocument.wordprocessingml'

interface Relation {
  id: string
  kind: string
  target: string
}

function relationsOf(entries: Relation[]): string {
  const inner = entries.map(
    ({ id, kind, target }) => `<Relationship Id="${id}" Type="${relations}/${kind}" Target="${target}"/>`,
  )
  return `<Relationships xmlns="${packageRelations}">${inner.join('')}</Relationships>`
}

function typesOf(parts: [name: string, type: string][]): string {
  const overrides = parts.map(([name, type]) => `<Override PartName="/${name}" ContentType="${type}"/>`)
  return `<Types xmlns="${packageTypes}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides.join('')}</Types>`
}

const archive = (parts: Record<string, string>): Buffer =>
  zip(
    Object.entries(parts).map(([name, text]) => ({
      name,
      data: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${text}`),
    })),
  )

export interface Sheet {
  name: string
  /** The rows; a text, a number, a formula without value, or a number with one of `formats`. */
  rows: (string | number | undefined | { formula: string } | { value: number; format: number })[][]
  /** Such as `A2:A4`. */
  merged?: string[]
  isHidden?: boolean
  /** Rows that are not shown, from 1. */
  hiddenRows?: number[]
  /** Columns that are not shown, from 1. */
  hiddenColumns?: number[]
  /** What is drawn on it, with the parts that it names by the ids of their relations. */
  drawing?: { xml: string; parts: Record<string, { kind: string; xml: string }> }
}

/** An Excel workbook. `formats` are number formats by their codes; cells name them by their place. */
export function xlsx(
  sheets: Sheet[],
  { formats = [], date1904 = false }: { formats?: string[]; date1904?: boolean } = {},
): Buffer {
  const files = sheets.map((_, index) => `xl/worksheets/sheet${index + 1}.xml`)
  const listed = sheets.map(
    ({ name, isHidden }, index) =>
      `<sheet name="${name}" sheetId="${index + 1}" r:id="s${index}"${isHidden ? ' state="hidden"' : ''}/>`,
  )
  const codes = formats.map((code, index) => `<numFmt numFmtId="${200 + index}" formatCode="${escaped(code)}"/>`)
  const styles = ['General', ...formats].map(
    (_, index) =>
      `<xf numFmtId="${index === 0 ? 0 : 199 + index}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
  )
  return archive({
    '[Content_Types].xml': typesOf([
      ['xl/workbook.xml', `${sheetTypes}.sheet.main+xml`],
      ['xl/styles.xml', `${sheetTypes}.styles+xml`],
      ...files.map((file): [string, string] => [file, `${sheetTypes}.worksheet+xml`]),
    ]),
    '_rels/.rels': relationsOf([{ id: 'r1', kind: 'officeDocument', target: 'xl/workbook.xml' }]),
    'xl/workbook.xml': `<workbook xmlns="${sheetNames}" xmlns:r="${relations}"><workbookPr${date1904 ? ' date1904="1"' : ''}/><sheets>${listed.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationsOf([
      ...sheets.map((_, index) => ({ id: `s${index}`, kind: 'worksheet', target: `worksheets/sheet${index + 1}.xml` })),
      { id: 'st', kind: 'styles', target: 'styles.xml' },
    ]),
    'xl/styles.xml': `<styleSheet xmlns="${sheetNames}"><numFmts count="${codes.length}">${codes.join('')}</numFmts><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="${styles.length}">${styles.join('')}</cellXfs></styleSheet>`,
    ...Object.fromEntries(sheets.map((sheet, index) => [files[index] ?? '', sheetXml(sheet)])),
    ...Object.assign({}, ...sheets.map((sheet, index) => drawingFiles(sheet, index + 1))),
  })
}

function drawingFiles({ drawing }: Sheet, number: number): Record<string, string> {
  if (drawing === undefined) return {}
  const parts = Object.entries(drawing.parts)
  return {
    [`xl/worksheets/_rels/sheet${number}.xml.rels`]: relationsOf([
      { id: 'd', kind: 'drawing', target: `../drawings/drawing${number}.xml` },
    ]),
    [`xl/drawings/drawing${number}.xml`]: drawing.xml,
    [`xl/drawings/_rels/drawing${number}.xml.rels`]: relationsOf(
      parts.map(([id, { kind }]) => ({ id, kind, target: `${id}-${number}.xml` })),
    ),
    ...Object.fromEntries(parts.map(([id, { xml }]) => [`xl/drawings/${id}-${number}.xml`, xml])),
  }
}

function sheetXml({ rows, merged = [], hiddenRows = [], hiddenColumns = [] }: Sheet): string {
  const columns = hiddenColumns.map((at) => `<col min="${at}" max="${at}" width="9" hidden="1"/>`)
  const lines = rows.map((row, at) => {
    const cells = row.map((cell, column) => cellXml(`${String.fromCodePoint(65 + column)}${at + 1}`, cell))
    return `<row r="${at + 1}"${hiddenRows.includes(at + 1) ? ' hidden="1"' : ''}>${cells.join('')}</row>`
  })
  const areas = merged.map((area) => `<mergeCell ref="${area}"/>`)
  return `<worksheet xmlns="${sheetNames}">${columns.length === 0 ? '' : `<cols>${columns.join('')}</cols>`}<sheetData>${lines.join('')}</sheetData>${areas.length === 0 ? '' : `<mergeCells count="${areas.length}">${areas.join('')}</mergeCells>`}</worksheet>`
}

function cellXml(at: string, cell: Sheet['rows'][number][number]): string {
  if (cell === undefined) return ''
  if (typeof cell === 'string') return `<c r="${at}" t="inlineStr"><is><t>${escaped(cell)}</t></is></c>`
  if (typeof cell === 'number') return `<c r="${at}"><v>${cell}</v></c>`
  if ('formula' in cell) return `<c r="${at}"><f>${escaped(cell.formula)}</f></c>`
  return `<c r="${at}" s="${cell.format + 1}"><v>${cell.value}</v></c>`
}

/** A Word document. `parts` are further parts below `word/`, each with the kind of its relation. */
export function docx(
  body: string,
  parts: Record<string, { kind: string; xml: string }> = {},
  type = `${wordTypes}.document.main+xml`,
): Buffer {
  const more = Object.entries(parts)
  return archive({
    '[Content_Types].xml': typesOf([
      ['word/document.xml', type],
      ...more.map(([name, { kind }]): [string, string] => [`word/${name}`, `${wordTypes}.${kind}+xml`]),
    ]),
    '_rels/.rels': relationsOf([{ id: 'r1', kind: 'officeDocument', target: 'word/document.xml' }]),
    'word/document.xml': `<w:document ${wordNames}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relationsOf(
      more.map(([name, { kind }], index) => ({ id: `p${index}`, kind, target: name })),
    ),
    ...Object.fromEntries(more.map(([name, { xml }]) => [`word/${name}`, xml.replace('xmlns', wordNames)])),
  })
}

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** A paragraph of Word: texts, or runs as XML. */
export const paragraph = (...runs: string[]): string =>
  `<w:p>${runs.map((run) => (run.startsWith('<') ? run : `<w:r><w:t xml:space="preserve">${escaped(run)}</w:t></w:r>`)).join('')}</w:p>`
