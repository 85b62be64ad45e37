import { type Scan, scanLimits } from '../../../domain/knowledge/scan.ts'
import type { Recognized, Recognizer } from './recognizer.ts'

export interface Ocr {
  languages: readonly string[]
  /** Of one file; the others are listed as unreadable. */
  maxPages: number
  /** Of processor time, for one file; undefined: as much as its pages take. */
  seconds?: number | undefined
  /** `seconds` is what its user has left today. */
  isDayLimit?: boolean | undefined
}

/** Reads pages that are pictures, and keeps account of them. */
export interface ScanReader {
  /** The text of a page, undefined if none could be read. `draw` makes its picture; undefined: the page is blank. */
  read(page: number, draw: () => Promise<Picture | undefined>): Promise<string | undefined>
  /** Undefined if no page was a picture. */
  result(): Scan | undefined
  /** Why not all pages were tried, if one was not. */
  whyGivenUp(): string | undefined
}

export interface Picture {
  bytes: Uint8Array
  /** Dots per inch, if known. */
  dpi?: number
}

/** Of one file: the list is shown to its owner. */
export const maxListedPages = 1000

/** `onPage` is told before each page: the process that waits allows time for it. */
export function createScanReader(
  { languages, maxPages, seconds = Infinity, isDayLimit = false }: Ocr,
  onPage: () => Promise<void>,
  recognize: Recognize = recognizeHere,
): ScanReader {
  const unreadable: number[] = []
  let pages = 0
  let confidence = 0
  let begun = 0
  let secondsUsed = 0
  let hopeless = 0
  let givenUp: string | undefined

  async function readPage(draw: () => Promise<Picture | undefined>) {
    const before = process.cpuUsage()
    try {
      const picture = await draw()
      return picture === undefined ? 'blank' : await recognize(picture, languages)
    } finally {
      const { user, system } = process.cpuUsage(before)
      secondsUsed += (user + system) / 1_000_000
    }
  }

  function whyNoMore(): string | undefined {
    if (hopeless >= scanLimits.hopelessPages) return 'its pictures take longer to read than is allowed'
    if (secondsUsed < seconds) return undefined
    return isDayLimit
      ? 'this account has no more time for reading pictures today'
      : 'its pictures take longer to read than is allowed'
  }

  return {
    async read(page, draw) {
      givenUp ??= whyNoMore()
      if (begun >= maxPages || givenUp !== undefined) {
        note(page)
        return undefined
      }
      begun += 1
      await onPage()
      const found = await readPage(draw)
      if (found === 'blank') return undefined
      if (found === 'hopeless') hopeless += 1
      if (found === undefined || found === 'hopeless') {
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
    whyGivenUp: () => givenUp,
  }

  function note(page: number): void {
    if (unreadable.length < maxListedPages) unreadable.push(page)
  }
}

/** `hopeless`: it takes longer than a page may. Undefined: it has no legible words. */
type Recognize = (picture: Picture, languages: readonly string[]) => Promise<Recognized | 'hopeless' | undefined>

/** One for all files of this process: starting it takes as long as reading a short page. */
let started: Promise<Recognizer> | undefined

const recognizeHere: Recognize = async ({ bytes, dpi }, languages) => {
  const { PageTooSlow, startRecognizer } = await import('./recognizer.ts')
  started ??= startRecognizer(languages)
  try {
    return (await started).recognize(bytes, dpi)
  } catch (error) {
    if (!(error instanceof PageTooSlow)) throw error
    started = undefined
    return 'hopeless'
  }
}
