import type { Scan } from '../../../domain/knowledge/scan.ts'
import type { Recognized, Recognizer } from './recognizer.ts'

export interface Ocr {
  languages: readonly string[]
  /** Of one file; the others are listed as unreadable. */
  maxPages: number
}

/** Reads pages that are pictures, and keeps account of them. */
export interface ScanReader {
  /** The text of a page, undefined if none could be read. `draw` makes its picture; undefined: the page is blank. */
  read(page: number, draw: () => Promise<Picture | undefined>): Promise<string | undefined>
  /** Undefined if no page was a picture. */
  result(): Scan | undefined
}

export interface Picture {
  bytes: Uint8Array
  /** Dots per inch, if known. */
  dpi?: number
}

/** Of one file: the list is shown to its owner. */
export const maxListedPages = 1000

/** `onPage` is told before each page: the process that waits allows time for it. */
export function createScanReader({ languages, maxPages }: Ocr, onPage: () => Promise<void>): ScanReader {
  const unreadable: number[] = []
  let pages = 0
  let confidence = 0
  let begun = 0
  return {
    async read(page, draw) {
      if (begun >= maxPages) {
        note(page)
        return undefined
      }
      begun += 1
      await onPage()
      const picture = await draw()
      if (picture === undefined) return undefined
      const found = await recognize(picture, languages)
      if (found === undefined) {
        note(page)
        return undefined
      }
      pages += 1
      confidence += found.confidence
      return found.text
    },
    result() {
      if (pages + unreadable.length === 0) return undefined
      return { pages, confidence: pages === 0 ? 0 : Math.round(confidence / pages), unreadable_pages: unreadable }
    },
  }

  function note(page: number): void {
    if (unreadable.length < maxListedPages) unreadable.push(page)
  }
}

/** One for all files of this process: starting it takes as long as reading a short page. */
let started: Promise<Recognizer> | undefined

async function recognize({ bytes, dpi }: Picture, languages: readonly string[]): Promise<Recognized | undefined> {
  const { PageTooSlow, startRecognizer } = await import('./recognizer.ts')
  started ??= startRecognizer(languages)
  try {
    return (await started).recognize(bytes, dpi)
  } catch (error) {
    if (!(error instanceof PageTooSlow)) throw error
    started = undefined
    return undefined
  }
}
