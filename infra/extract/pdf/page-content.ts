import { addAll } from '../../../domain/add-all.ts'
import type { PdfDocument, Pdfium } from './pdfium.ts'
import { type Rules, rulesOf } from './rules.ts'
import { type PageWords, type Word, wordsOf } from './words.ts'

/** What is on a page, before it is put in order. */
export interface PageContent extends PageWords {
  page: number
  label: string | undefined
  /** In points squared. */
  area?: number
  rules: Rules | undefined
  /** Its letters are left out, because nobody can know what they mean. */
  isIllegible: boolean
  /** Read from a picture of the page; what its words say, too, is written once. */
  recognized?: string
}

export function readPage(pdfium: Pdfium, document: PdfDocument, page: number): Omit<PageContent, 'page' | 'label'> {
  const found = wordsOf(pdfium, page)
  const fields = fieldsOf(pdfium, document, page)
  const area = pdfium.native('FPDF_GetPageWidth')(page) * pdfium.native('FPDF_GetPageHeight')(page)
  return {
    ...found,
    words: fields.length === 0 ? found.words : [...found.words, ...fields],
    letters: found.letters + fields.reduce((sum, { text }) => sum + text.length, 0),
    area,
    rules: rulesOf(pdfium, page),
    isIllegible: false,
  }
}

/** Words by how they are turned, most of them first. */
export function byTurns(words: Word[]): Word[][] {
  const groups = new Map<number, Word[]>()
  for (const word of words) {
    const known = groups.get(word.turns)
    if (known) known.push(word)
    else groups.set(word.turns, [word])
  }
  return [...groups.values()].toSorted((a, b) => b.length - a.length)
}

/** Numbers of PDFium for kinds of fields and annotations. */
const widget = 20
const [checkBox, radioButton, comboBox, listBox, textField, signature] = [2, 3, 4, 5, 6, 7]
/** Of a page with more annotations, the first are read. */
const maxAnnotations = 2000
const maxValueCharacters = 10_000

/** What is filled into the fields of a page, as words at the place of each field. */
function fieldsOf(pdfium: Pdfium, document: PdfDocument, page: number): Word[] {
  const { native } = pdfium
  const count = Math.min(maxAnnotations, native('FPDFPage_GetAnnotCount')(page))
  const words: Word[] = []
  for (let index = 0; index < count && document.form !== 0; index++) {
    const annotation = native('FPDFPage_GetAnnot')(page, index)
    if (annotation === 0) continue
    try {
      if (native('FPDFAnnot_GetSubtype')(annotation) === widget)
        addAll(words, wordsOfField(pdfium, document, annotation))
    } finally {
      native('FPDFPage_CloseAnnot')(annotation)
    }
  }
  return words
}

function wordsOfField(pdfium: Pdfium, { form }: PdfDocument, annotation: number): Word[] {
  const { native, at, float } = pdfium
  const kind = native('FPDFAnnot_GetFormFieldType')(form, annotation)
  // `FS_RECTF`: left, top, right, bottom.
  if (native('FPDFAnnot_GetRect')(annotation, at(0)) === 0) return []
  const box = { left: float(0), top: -float(1), right: float(2), bottom: -float(3) }
  if (kind === checkBox || kind === radioButton) {
    // Of a button of a group this is its own state; the value is that of the group.
    const state = stateOf(pdfium, annotation) || (kind === checkBox ? valueOf(pdfium, form, annotation) : '')
    const isChecked = state !== '' && state !== 'Off'
    return [wordAt(box, box.top, isChecked ? '[x]' : '[ ]', 'mark')]
  }
  if (kind !== textField && kind !== comboBox && kind !== listBox && kind !== signature) return []
  const value = valueOf(pdfium, form, annotation)
  if (value === '') return []
  const lines = value.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '')
  const height = (box.bottom - box.top) / lines.length
  return lines.map((line, index) =>
    wordAt({ ...box, bottom: box.top + height * (index + 1) }, box.top + height * index, line.trim(), 'value'),
  )
}

const valueOf = (pdfium: Pdfium, form: number, annotation: number): string =>
  pdfium
    .text((buffer, bytes) => pdfium.native('FPDFAnnot_GetFormFieldValue')(form, annotation, buffer, bytes))
    .slice(0, maxValueCharacters)
    .trim()

/** The name of the appearance that a button has now. */
function stateOf(pdfium: Pdfium, annotation: number): string {
  const { malloc, free, bytes, native } = pdfium
  const key = malloc(3)
  try {
    bytes().set([0x41, 0x53, 0], key)
    return pdfium.text((buffer, length) => native('FPDFAnnot_GetStringValue')(annotation, key, buffer, length))
  } finally {
    free(key)
  }
}

type Box = Record<'left' | 'right' | 'top' | 'bottom', number>

/** As large as the letters of an ordinary form, in the middle of the field. */
function wordAt({ left, right, bottom }: Box, top: number, text: string, field: 'value' | 'mark'): Word {
  const size = Math.min(12, Math.max(6, (bottom - top) * 0.7))
  const isWide = field === 'mark' ? right : Math.min(right, left + text.length * size * 0.5)
  return { text, left, right: isWide, base: (top + bottom) / 2 + 0.35 * size, size, isBold: false, turns: 0, field }
}
