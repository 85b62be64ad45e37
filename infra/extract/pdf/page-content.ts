import { fieldsOf } from './fields.ts'
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
