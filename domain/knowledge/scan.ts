/** Codes of Tesseract such as `eng` and `chi_sim`. */
export const isOcrLanguage = (code: string): boolean => /^[a-z]{3}(?:_[a-z]{1,10}){0,2}$/.test(code)

/** What was read from the pictures of a file: scanned pages, and pictures that are files. */
export interface Scan {
  /** Pages whose text was read from a picture. */
  pages: number
  /** Mean confidence of their words, from 0 to 100. */
  confidence: number
  /** Pages that are pictures without legible words, or more than are read of one file; the first thousand. */
  unreadable_pages: number[]
}
