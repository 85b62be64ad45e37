import type { Block } from '../../../domain/chunking/block.ts'
import type { Attributes } from '../word/xml.ts'
import type { Hiding } from './sheets.ts'

interface Shape {
  blocks: Block[]
  /** In tenths of an inch. */
  top: number | undefined
  left: number
  class: string
}

/** Fields of each slide that say nothing about it. */
const unread = new Set(['date-time', 'page-number', 'footer', 'header'])

/** Slides and drawings: what stands on each, from top to bottom below its title, then its notes. */
export function createSlides(
  put: (blocks: Block[]) => void,
  targets: Block[][],
  { hiddenStyles, readsHidden }: Hiding,
) {
  let isPresentation = false
  let page = 0
  let shapes: Shape[] | undefined
  let notes: Block[] | undefined
  /** Shapes in shapes are groups. */
  let depth = 0
  let isHidden = false

  function endPage(): void {
    const all = shapes ?? []
    shapes = undefined
    const areRead = readsHidden || !isHidden
    const marks: Block[] = isHidden ? [{ kind: 'text', text: '(hidden slide)' }] : []
    const own = inOrder(all).flatMap((shape) => (shape.class === 'title' ? titleOf(shape) : shape.blocks))
    if (areRead) put([...marks, ...own, ...(notes ?? [])].map((block) => ({ ...block, page })))
    notes = undefined
  }

  return {
    beginShape(attributes: Attributes): void {
      if (shapes === undefined) return
      const top = inches(attributes['svg:y'] ?? attributes['svg:y1'])
      const outer = shapes.at(-1)
      if (depth++ > 0) {
        // A group stands where the first of its parts does.
        if (outer && outer.top === undefined) outer.top = top
        return
      }
      const shape = {
        blocks: [],
        top,
        left: inches(attributes['svg:x'] ?? attributes['svg:x1']) ?? 0,
        class: attributes['presentation:class'] ?? '',
      }
      shapes.push(shape)
      targets.push(shape.blocks)
    },
    /** Call it when the blocks of the shape are put. */
    endShape(): void {
      if (shapes !== undefined && --depth === 0) targets.pop()
    },
    /** False if the tag is not one of a slide. */
    open(name: string, attributes: Attributes): boolean {
      if (name === 'office:presentation' || name === 'office:drawing') isPresentation = true
      if (!isPresentation) return false
      if (name === 'draw:page') {
        page++
        shapes = []
        isHidden = hiddenStyles.has(attributes['draw:style-name'] ?? '')
      } else if (name === 'presentation:notes') {
        notes = []
        targets.push(notes)
        depth++
      } else return false
      return true
    },
    close(name: string): boolean {
      if (!isPresentation) return false
      if (name === 'draw:page') endPage()
      else if (name === 'presentation:notes') {
        targets.pop()
        depth--
      } else return false
      return true
    },
  }
}

function titleOf({ blocks }: Shape): Block[] {
  const text = blocks
    .map((block) => block.text.trim())
    .filter((line) => line !== '')
    .join(' ')
  return text === '' ? [] : [{ kind: 'heading', level: 1, text }]
}

function inOrder(shapes: Shape[]): Shape[] {
  const read = shapes.filter((shape) => !unread.has(shape.class))
  const titles = read.filter((shape) => shape.class === 'title')
  const others = read.filter((shape) => shape.class !== 'title')
  const unplaced = others.filter(({ top }) => top === undefined)
  const placed = others.filter(({ top }) => top !== undefined)
  const line = ({ top = 0 }: Shape) => Math.round(top)
  return [...titles, ...unplaced, ...placed.toSorted((a, b) => line(a) - line(b) || a.left - b.left)]
}

/** `2.54cm` is 10. */
function inches(length: string | undefined): number | undefined {
  const [, value, unit = ''] = /^(-?[\d.]+)(cm|mm|in|pt|pc)$/.exec(length ?? '') ?? []
  const factor = new Map([
    ['cm', 10 / 2.54],
    ['mm', 1 / 2.54],
    ['in', 10],
    ['pt', 10 / 72],
    ['pc', 10 / 6],
  ]).get(unit)
  return value === undefined || factor === undefined ? undefined : Number(value) * factor
}
