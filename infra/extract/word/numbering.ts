import { type Attributes, attribute, createXmlReader } from './xml.ts'

export interface Level {
  start: number
  format: string
  text: string
  isLegal: boolean
}

export interface Numbering {
  /** The lists, by the ids that paragraphs name. */
  lists: Map<string, { abstract: string; starts: Map<number, number>; levels: Map<number, Level> }>
  abstracts: Map<string, { levels: Map<number, Level>; styles: Map<string, number> }>
}

/** Word's automatic numbers: `numbering.xml` (ECMA-376, 17.9). */
export function readNumbering(xml: string): Numbering {
  const numbering: Numbering = { lists: new Map(), abstracts: new Map() }
  let abstract: { levels: Map<number, Level>; styles: Map<string, number> } | undefined
  let list: { abstract: string; starts: Map<number, number>; levels: Map<number, Level> } | undefined
  let level: Level | undefined
  let index = 0
  const reader = createXmlReader({
    open(name, attributes) {
      const value = attribute(attributes, 'val') ?? ''
      if (name === 'w:abstractNum') {
        abstract = { levels: new Map(), styles: new Map() }
        numbering.abstracts.set(attribute(attributes, 'abstractNumId') ?? '', abstract)
      } else if (name === 'w:num') {
        list = { abstract: '', starts: new Map(), levels: new Map() }
        numbering.lists.set(attribute(attributes, 'numId') ?? '', list)
      } else if (name === 'w:abstractNumId' && list) list.abstract = value
      else if (name === 'w:lvlOverride') index = numberIn(attributes, 'ilvl')
      else if (name === 'w:startOverride' && list) list.starts.set(index, wholeNumber(value))
      else if (name === 'w:lvl') {
        index = numberIn(attributes, 'ilvl')
        level = { start: 1, format: 'decimal', text: '', isLegal: false }
        ;(list ?? abstract)?.levels.set(index, level)
      } else if (level === undefined) return
      else if (name === 'w:start') level.start = wholeNumber(value)
      else if (name === 'w:numFmt') level.format = value
      else if (name === 'w:lvlText') level.text = value.slice(0, 100)
      else if (name === 'w:isLgl') level.isLegal = value !== '0' && value !== 'false'
      else if (name === 'w:pStyle') abstract?.styles.set(value, index)
    },
    close(name) {
      if (name === 'w:lvl') level = undefined
      else if (name === 'w:num') list = undefined
      else if (name === 'w:abstractNum') abstract = undefined
    },
    text: () => undefined,
  })
  reader.write(xml)
  reader.end()
  return numbering
}

const numberIn = (attributes: Attributes, name: string): number => Number(attribute(attributes, name) ?? 0) || 0

const wholeNumber = (text: string): number => (Number.isSafeInteger(Number(text)) ? Number(text) : 0)

/** Counts as Word does: lists with one definition go on counting, and a level begins anew below each higher one. */
export function createCounters(numbering: Numbering) {
  const counters = new Map<string, Map<number, number>>()
  const begun = new Set<string>()

  return {
    /** The number of the next paragraph of a list, `-` for a bullet; undefined if it has none. */
    next(id: string, position: number): string | undefined {
      const list = numbering.lists.get(id)
      const abstract = list && numbering.abstracts.get(list.abstract)
      const levelAt = (index: number) => list?.levels.get(index) ?? abstract?.levels.get(index)
      const level = levelAt(position)
      if (!list || !level) return undefined
      const counts = counters.get(list.abstract) ?? new Map<number, number>()
      counters.set(list.abstract, counts)
      const restart = begun.has(`${id} ${position}`) ? undefined : list.starts.get(position)
      begun.add(`${id} ${position}`)
      const before = counts.get(position)
      counts.set(position, restart ?? (before === undefined ? level.start : before + 1))
      for (const deeper of counts.keys()) if (deeper > position) counts.delete(deeper)
      if (level.format === 'bullet') return '-'
      if (level.format === 'none') return level.text.replace(/%\d/g, '').trim() || undefined
      return level.text.replace(/%([1-9])/g, (_, digit: string) => {
        const at = Number(digit) - 1
        const shown = levelAt(at)
        const count = counts.get(at) ?? shown?.start ?? 1
        return formatted(count, level.isLegal ? 'decimal' : (shown?.format ?? 'decimal'))
      })
    },
    /** The level of a list that a style names. */
    levelOfStyle: (id: string, style: string) =>
      numbering.abstracts.get(numbering.lists.get(id)?.abstract ?? '')?.styles.get(style),
  }
}

export function formatted(count: number, format: string): string {
  switch (format) {
    case 'lowerLetter':
      return letters(count)
    case 'upperLetter':
      return letters(count).toUpperCase()
    case 'lowerRoman':
      return roman(count)
    case 'upperRoman':
      return roman(count).toUpperCase()
    case 'decimalZero':
      return String(count).padStart(2, '0')
    case 'none':
      return ''
    default:
      return String(count)
  }
}

/** `a` to `z`, then `aa`. */
const letters = (count: number): string =>
  count < 1 ? String(count) : String.fromCodePoint(97 + ((count - 1) % 26)).repeat(Math.min(20, Math.ceil(count / 26)))

const romanDigits: [number, string][] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]

function roman(count: number): string {
  if (count < 1 || count > 4999) return String(count)
  let [rest, text] = [count, '']
  for (const [value, digits] of romanDigits) {
    while (rest >= value) {
      text += digits
      rest -= value
    }
  }
  return text
}
