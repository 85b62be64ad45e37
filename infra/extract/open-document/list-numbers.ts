import { formatted } from '../word/numbering.ts'
import { type Attributes, attribute } from '../word/xml.ts'

interface Level {
  isBullet: boolean
  format: string
  prefix: string
  suffix: string
  /** How many levels the number shows: 2 of `1.2.3` are `2.3`. */
  shown: number
  start: number
  /** As current programs write it: `%1%.%2%)`. */
  pattern: string | undefined
}

const formats = new Map([
  ['1', 'decimal'],
  ['a', 'lowerLetter'],
  ['A', 'upperLetter'],
  ['i', 'lowerRoman'],
  ['I', 'upperRoman'],
])
const maxStyles = 20_000
const deepestLevel = 10

/** The numbers of lists and headings (OpenDocument 1.3, part 3, 16.30): feed it the styles, then count. */
export function createListNumbers() {
  const styles = new Map<string, Map<number, Level>>()
  let open: Map<number, Level> | undefined

  return {
    /** A tag of `styles.xml` or of the automatic styles of a document. */
    openStyle(name: string, attributes: Attributes): void {
      if (name === 'text:list-style' || name === 'text:outline-style') {
        open = new Map()
        const id = name === 'text:outline-style' ? outline : (attribute(attributes, 'name') ?? '')
        if (styles.size < maxStyles) styles.set(id, open)
      } else if (
        open !== undefined &&
        /^text:(list-level-style-(number|bullet|image)|outline-level-style)$/.test(name)
      ) {
        open.set(Number(attributes['text:level']) || 1, levelOf(name, attributes))
      }
    },
    /** Counts on in `counts`, which has one place for each level; undefined if the style has no number there. */
    next(style: string, level: number, counts: number[], restart?: number): string | undefined {
      const levels = styles.get(style)
      const own = levels?.get(level)
      if (levels === undefined || own === undefined) return style === outline ? undefined : '-'
      counts.length = Math.min(counts.length, level)
      for (let above = counts.length; above < level; above++) counts.push((levels.get(above + 1)?.start ?? 1) - 1)
      counts[level - 1] = restart ?? (counts[level - 1] ?? 0) + 1
      if (own.isBullet) return '-'
      if (own.format === '') return undefined
      const at = (index: number) =>
        formatted(Math.max(counts[index - 1] ?? 1, 0), levels.get(index)?.format ?? 'decimal')
      if (own.pattern !== undefined) return own.pattern.replace(/%(\d{1,2})%/g, (_, place: string) => at(Number(place)))
      const first = Math.max(1, level - own.shown + 1)
      const parts: string[] = []
      for (let index = first; index <= level; index++) if (levels.get(index)?.format !== '') parts.push(at(index))
      return `${own.prefix}${parts.join('.')}${own.suffix}`
    },
  }
}

export type ListNumbers = ReturnType<typeof createListNumbers>

/** The style of the numbers of headings, of which a document has one. */
export const outline = '\0outline'

function levelOf(name: string, attributes: Attributes): Level {
  const pattern = attributes['loext:num-list-format']?.slice(0, 100)
  return {
    isBullet: /bullet|image/.test(name),
    format: formats.get(attributes['style:num-format'] ?? '') ?? '',
    prefix: (attributes['style:num-prefix'] ?? '').slice(0, 40),
    suffix: (attributes['style:num-suffix'] ?? '').slice(0, 40),
    shown: Math.min(Number(attributes['text:display-levels']) || 1, deepestLevel),
    start: Number(attributes['text:start-value'] ?? 1) || 0,
    pattern: pattern === undefined || !pattern.includes('%') ? undefined : pattern,
  }
}
