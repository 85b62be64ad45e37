import type { Word } from './words.ts'

/** In sizes of letters: words that are further apart stand in different columns. */
const farApart = 1
/** Between cells that nearly touch; spaces within a sentence are narrower unless it is justified. */
const apart = 0.4
/** So many lines make an edge. */
const leastLines = 3
/** Behind an amount. */
const sign = /^[\p{Sc}%]$/u
/** In points: what is aligned differs by less. */
const tolerance = 1

/**
 * Where columns of a page begin and end, told by what is aligned in several lines: cells of neighbouring columns may
 * nearly touch, such as a figure at the right of its column and a word at the left of the next. Returns whether a
 * column ends between two neighbouring words.
 */
export function createColumnEdges(
  lines: Word[][],
  isNumber: (text: string) => boolean,
): (before: Word, word: Word) => boolean {
  const isFigure = (text: string) => isNumber(text) || sign.test(text)
  const starts = createEdges()
  const near = createEdges()
  const figures = createEdges()
  const pairs = createEdges()
  const widths = createWidths()
  for (const line of lines) {
    for (const [index, word] of line.entries()) {
      const before = line[index - 1]
      if (before === undefined) continue
      const gap = gapOf(before, word)
      if (gap > farApart) {
        starts.add(word.left)
        if (isFigure(word.text)) figures.add(word.right)
      } else if (gap > apart) near.add(word.left)
      if (isFigure(before.text) && !isFigure(word.text) && !areOnePiece(before, word)) {
        pairs.add(before.right, word.left)
        widths.add(before.right, word.left, before.left)
      }
    }
  }
  return (before, word) => {
    const gap = gapOf(before, word)
    if (gap <= 0 || areOnePiece(before, word)) return false
    // Figures of one width may stand at the left, such as those of `12 weeks`, unless a name stands above the words.
    const isPair = !isFigure(word.text) && pairs.has(before.right, word.left)
    if (isPair && (starts.count(word.left) > 0 || widths.differ(before.right, word.left))) return true
    if (gap <= apart) return false
    // A space that is wide in each line, such as that behind the mark of a signature, parts no columns.
    const isStart = starts.has(word.left) && 3 * starts.count(word.left) >= near.count(word.left)
    return isStart || (isFigure(word.text) && figures.has(word.right))
  }
}

/** Counts places, and pairs of them, as far as they are alike. */
function createEdges() {
  const counts = new Map<string, number>()
  const count = (at: number, to = 0): number => {
    let sum = 0
    for (const key of alike(at, to)) sum += counts.get(key) ?? 0
    return sum
  }
  return {
    add(at: number, to = 0): void {
      const key = keyOf(at, to)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    count,
    has: (at: number, to = 0): boolean => count(at, to) >= leastLines,
  }
}

const keyOf = (at: number, to: number, x = 0, y = 0) =>
  `${Math.round(at / tolerance) + x} ${Math.round(to / tolerance) + y}`

function alike(at: number, to: number): string[] {
  const near = [-1, 0, 1]
  // A figure that ends in 1 ends earlier than others.
  return to === 0
    ? near.map((x) => keyOf(at, to, x))
    : [-2, ...near, 2].flatMap((x) => near.map((y) => keyOf(at, to, x, y)))
}

/** Drawn at once, such as `12 weeks`: words of one cell. */
const areOnePiece = (before: Word, word: Word): boolean => word.piece !== undefined && word.piece === before.piece

/** In sizes of letters. */
const gapOf = (before: Word, word: Word): number => (word.left - before.right) / Math.max(before.size, word.size)

/** Whether words that end at one place begin at different ones: they are aligned at the right. */
function createWidths() {
  const ranges = new Map<string, { from: number; to: number }>()
  return {
    add(at: number, to: number, left: number): void {
      const known = ranges.get(keyOf(at, to))
      ranges.set(keyOf(at, to), { from: Math.min(left, known?.from ?? left), to: Math.max(left, known?.to ?? left) })
    },
    differ(at: number, to: number): boolean {
      let [from, last] = [Infinity, -Infinity]
      for (const key of alike(at, to)) {
        const range = ranges.get(key)
        from = Math.min(from, range?.from ?? Infinity)
        last = Math.max(last, range?.to ?? -Infinity)
      }
      return last - from > 2 * tolerance
    },
  }
}
