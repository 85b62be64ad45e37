import { attribute, createXmlReader } from './xml.ts'

export interface Style {
  basedOn?: string
  /** Of a heading, from 1. */
  level?: number
  list?: string
  listLevel?: number
  isHidden?: boolean
}

/** What the styles of paragraphs say about headings and numbers, with what they inherit. */
export function readStyles(xml: string): (id: string | undefined) => Style {
  const styles = new Map<string, Style>()
  let style: Style | undefined
  let inRun = 0
  const reader = createXmlReader({
    open(name, attributes) {
      const value = attribute(attributes, 'val') ?? ''
      if (name === 'w:style') {
        style = {}
        styles.set(attribute(attributes, 'styleId') ?? '', style)
      } else if (style === undefined) return
      else if (name === 'w:name') {
        const level = /^heading (\d)$/i.exec(value)?.[1]
        if (level !== undefined) style.level = Number(level)
        else if (/^title$/i.test(value)) style.level = 1
      } else if (name === 'w:basedOn') style.basedOn = value
      else if (name === 'w:outlineLvl' && Number(value) < 9) style.level ??= Number(value) + 1
      else if (name === 'w:numId') style.list = value
      else if (name === 'w:ilvl') style.listLevel = Number(value) || 0
      else if (name === 'w:rPr') inRun++
      else if (name === 'w:vanish' && inRun > 0 && value !== '0' && value !== 'false') style.isHidden = true
    },
    close(name) {
      if (name === 'w:style') style = undefined
      else if (name === 'w:rPr') inRun = Math.max(0, inRun - 1)
    },
    text: () => undefined,
  })
  reader.write(xml)
  reader.end()
  return (id) => inherited(styles, id)
}

const deepest = 20

function inherited(styles: Map<string, Style>, id: string | undefined): Style {
  let found: Style = {}
  let next = id
  for (let depth = 0; next !== undefined && depth < deepest; depth++) {
    const style: Style | undefined = styles.get(next)
    if (style === undefined) break
    found = { ...style, ...found }
    next = style.basedOn
  }
  return found
}
