import { rowsOf } from './columns.ts'
import type { PageContent } from './page-content.ts'
import { segmentsOf } from './segments.ts'

/** As few letters as a stamp has that a scanner puts on each page. */
const fewLetters = 40
/** As many as an archive prints on a page that is a picture otherwise, in a few lines. */
const stampLetters = 250
const stampRows = 3
const leastShareOfPage = 0.15

export const lettersOf = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0

/** Why a picture of the page may say more than its letters do; undefined: it does not. */
export function needsRecognizer(page: PageContent): 'picture' | 'illegible' | undefined {
  if (page.unknownLetters > page.letters * 0.3 && !readsLikeText(page)) return 'illegible'
  if (page.letters === 0) return 'picture'
  const pictures = page.rules?.pictures ?? []
  if (pictures.length === 0) return undefined
  if (page.letters <= fewLetters) return 'picture'
  if (page.letters > stampLetters) return undefined
  const covered = pictures.reduce((sum, { left, right, top, bottom }) => sum + (right - left) * (bottom - top), 0)
  const isLarge = covered >= (page.area ?? Infinity) * leastShareOfPage
  return isLarge && rowsOf(segmentsOf(page.words)).length <= stampRows ? 'picture' : undefined
}

/** The most frequent letters of European languages are half of their texts, and a quarter of an alphabet at random. */
function readsLikeText({ words }: PageContent): boolean {
  const text = words
    .slice(0, 2000)
    .map((word) => word.text)
    .join('')
    .toLowerCase()
  const letters = text.match(/[a-z]/g)?.length ?? 0
  return letters > lettersOf(text) * 0.6 && (text.match(/[eanitrs]/g)?.length ?? 0) > letters * 0.45
}
