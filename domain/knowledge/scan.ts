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

/** What the reading of pictures may take; seconds are of processor time. */
export const scanLimits = {
  /** Enough for 200 dense pages. */
  secondsOfFile: 1200,
  /** Pages that take longer than a page may: gravel looks like a million words. After so many, a file is given up. */
  hopelessPages: 3,
} as const

/** Pages of a file are pictures, and there is no place to read them now. */
export class ScansBusy extends Error {}
